"""What ``as_of`` says, ``turn:ID``, ``time:T`` or ``position:N``, as a position of a space."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from infra.errors import UsageError
from schemas.memory import OutcomeRow, OutcomeState, RecordKind, RecordRow, Row
from schemas.space import Space

_POSITION: Final = re.compile(r"[0-9]{1,18}")
"""More digits are more events than an index can number."""


def moment(text: str) -> datetime:
    """Read an ISO 8601 time with an offset; ``Z`` is UTC.

    Raises:
        ValueError: saying how one is written.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        msg = f"{text!r} is no time: write it like 2026-03-01T18:22:05+01:00"
        raise ValueError(msg) from None
    if at.tzinfo is None:
        msg = f"{text!r} has no offset: write it like 2026-03-01T18:22:05+01:00, or with Z for UTC"
        raise ValueError(msg)
    return at


@dataclass(frozen=True, slots=True)
class AsOf:
    """One of the three, read; ``needs`` is the kind of memory row that tells its position (``None``: it says it)."""

    turn_id: str | None = None
    at: datetime | None = None
    number: int = -1

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the text.

        Raises:
            UsageError: if it has another form.
        """
        kind, _, value = text.partition(":")
        match kind:
            case "position" if _POSITION.fullmatch(value):
                return cls(number=int(value))
            case "turn" if value:
                return cls(turn_id=value)
            case "time" if value:
                try:
                    return cls(at=moment(value))
                except ValueError as error:
                    msg = f"as-of: {error}"
                    raise UsageError(msg) from None
            case _:
                msg = f"as-of is written turn:ID, time:T or position:N; got {text!r}"
                raise UsageError(msg)

    @property
    def needs(self) -> str | None:
        """The kind of row that tells the position."""
        if self.turn_id is not None:
            return "outcome"
        return None if self.at is None else "record"

    def position(self, space: Space, rows: Iterable[Row]) -> int:
        """Return the position, given the space's rows of the kind that it needs (others are passed over).

        A turn stands for the first position at which it was committed. A time stands for the last position before the
        first turn that is later, so that nothing said after it is seen.

        Raises:
            UsageError: if it is a turn that memory does not hold.
        """
        if self.turn_id is not None:
            return _of_turn(space, self.turn_id, rows)
        return self.number if self.at is None else _of_time(self.at, rows)


def _of_turn(space: Space, turn_id: str, rows: Iterable[Row]) -> int:
    positions = [
        row.position
        for row in rows
        if isinstance(row, OutcomeRow) and row.event_id == turn_id and row.state is OutcomeState.COMMITTED
    ]
    if not positions:
        msg = f"as-of: the space {space} has no committed turn {turn_id!r}"
        raise UsageError(msg)
    return min(positions)


def _of_time(at: datetime, rows: Iterable[Row]) -> int:
    records = (row for row in rows if isinstance(row, RecordRow) and row.kind is RecordKind.TURN)
    turns = sorted((record.since, record.at) for record in records)
    later = [position for position, spoken in turns if spoken > at]
    if later:
        return later[0] - 1
    return turns[-1][0] if turns else -1
