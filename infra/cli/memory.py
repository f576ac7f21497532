"""``turns``, ``placements``, ``times``, ``mentions``, ``records``: what memory holds of a space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import typer

from infra import shown
from infra.cli import output, turn_records
from infra.cli.arguments import JsonOption, NoWaitOption, SpaceOption
from infra.cli.session import Session, session_of
from infra.memory_api import Memory
from schemas.memory import row_key
from schemas.space import Space

Give = Callable[[Memory], Iterable[Mapping[str, Any]]]

PLACEMENT = ("turn_id", "parent_turn_id", "other_parents", "rule", "score")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (turns, placements, times, mentions, records):
        app.command(epilog=f"Example: anabranch {command.__name__} --space acme/mia --json")(command)


def turns(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List each distinct turn and what became of it."""
    columns = ("turn_id", "position", "state", "reason")
    _show(context, lambda memory: _turns(memory, space), columns, as_json=as_json, wait=not no_wait)


def placements(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List where each turn hangs in the forest, and what chose that."""
    _show(
        context,
        lambda memory: turn_records.placements(memory.rows(space)),
        PLACEMENT,
        as_json=as_json,
        wait=not no_wait,
    )


def times(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List every temporal expression with the interval that it stands for."""
    columns = ("turn_id", "phrase", "start", "end", "grain", "vague")
    _show(context, lambda memory: turn_records.times(memory.rows(space)), columns, as_json=as_json, wait=not no_wait)


def mentions(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List phrases such as "that book" with the entity that each stands for."""
    columns = ("turn_id", "mention", "refers_to", "source_turn_id", "confidence")
    _show(context, lambda memory: turn_records.mentions(memory.rows(space)), columns, as_json=as_json, wait=not no_wait)


def records(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """List every row of memory. With --json equal memories print equal bytes."""
    if as_json:
        _show(context, lambda memory: _rows(memory, space), (), as_json=True, wait=not no_wait)
    else:
        columns = ("row", "kind", "since", "text", "id")
        _show(context, lambda memory: _brief(memory, space), columns, as_json=False, wait=not no_wait)


def _turns(memory: Memory, space: Space) -> Iterable[dict[str, Any]]:
    return map(shown.turn, memory.turns(space))


def _rows(memory: Memory, space: Space) -> Iterable[dict[str, Any]]:
    return (row.model_dump(mode="json") for row in memory.rows(space))


def _brief(memory: Memory, space: Space) -> Iterable[dict[str, Any]]:
    for row in memory.rows(space):
        told = row.model_dump(mode="json")
        since = told.get("since", told.get("position", told.get("until")))
        what = told.get("text") or told.get("reason") or told.get("type") or told.get("state")
        yield {
            "row": row.row,
            "kind": told.get("kind", told.get("cause")),
            "since": since,
            "text": what,
            "id": row_key(row).partition(" ")[2],
        }


def _show(context: typer.Context, give: Give, columns: tuple[str, ...], *, as_json: bool, wait: bool) -> None:
    session = session_of(context)
    session.run(_print(session, give, columns, as_json=as_json, wait=wait))


async def _print(session: Session, give: Give, columns: tuple[str, ...], *, as_json: bool, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        output.rows(give(memory), columns, as_json=as_json)
