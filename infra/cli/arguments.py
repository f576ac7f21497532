"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Final

import typer

from infra.errors import UsageError
from infra.memory_api import Memory
from schemas.memory import OutcomeRow, RecordKind, RecordRow
from schemas.space import Space

_POSITION: Final = re.compile(r"[0-9]{1,18}")
"""More digits are more events than an index can number."""


def parse_space(text: str) -> Space:
    """Read ``TENANT/SPACE``; a wrong form is wrong use of the command line."""
    try:
        return Space(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time with an offset; ``Z`` is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        msg = f"{text!r} is no time: write it like 2026-03-01T18:22:05+01:00"
        raise typer.BadParameter(msg) from None
    if at.tzinfo is None:
        msg = f"{text!r} has no offset: write it like 2026-03-01T18:22:05+01:00, or with Z for UTC"
        raise typer.BadParameter(msg)
    return at


SpaceOption = Annotated[
    Space, typer.Option("--space", metavar="TENANT/SPACE", parser=parse_space, help="The space to look into.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
NoWaitOption = Annotated[
    bool, typer.Option("--no-wait", help="Look at once, and do not process what is pending first.")
]


def resolve_as_of(memory: Memory, space: Space, text: str) -> int:
    """Return the position that ``turn:ID``, ``time:T`` or ``position:N`` stands for.

    A turn stands for the first position at which it was committed. A time stands for the last position before the
    first turn that is later, so that nothing said after it is seen.

    Raises:
        UsageError: if the text has another form, or names a turn that memory does not hold.
    """
    kind, _, value = text.partition(":")
    match kind:
        case "position" if _POSITION.fullmatch(value):
            return int(value)
        case "turn" if value:
            return _of_turn(memory, space, value)
        case "time" if value:
            return _of_time(memory, space, parse_time(value))
        case _:
            msg = f"--as-of is written turn:ID, time:T or position:N; got {text!r}"
            raise UsageError(msg)


def _of_turn(memory: Memory, space: Space, turn_id: str) -> int:
    positions = [
        row.position
        for row in memory.rows(space)
        if isinstance(row, OutcomeRow) and row.event_id == turn_id and row.state == "committed"
    ]
    if not positions:
        msg = f"--as-of: the space {space} has no committed turn {turn_id!r}"
        raise UsageError(msg)
    return min(positions)


def _of_time(memory: Memory, space: Space, at: datetime) -> int:
    turns = sorted((record.since, record.at) for record in _turns(memory.rows(space)))
    later = [position for position, spoken in turns if spoken > at]
    if later:
        return later[0] - 1
    return turns[-1][0] if turns else -1


def _turns(rows: Iterable[object]) -> Iterable[RecordRow]:
    return (row for row in rows if isinstance(row, RecordRow) and row.kind is RecordKind.TURN)
