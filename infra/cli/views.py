"""``views``: the views under which a space is read, set by set, and why each is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption, NoWaitOption, SpaceOption
from infra.cli.session import Session, session_of
from schemas.memory import RecordRow, Row
from schemas.space import Space
from schemas.view import View, ViewDetail, ViewSet

_COLUMNS: Final = ("version", "since", "name", "kind", "slots", "text", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch views --space acme/mia")(views)


def views(
    context: typer.Context, *, space: SpaceOption, as_json: JsonOption = False, no_wait: NoWaitOption = False
) -> None:
    """Show the sets of views by version, the position since which each holds, and why each view is in it."""
    session = session_of(context)
    session.run(_views(session, space, as_json=as_json, wait=not no_wait))


async def _views(session: Session, space: Space, *, as_json: bool, wait: bool) -> None:
    from stages.extract_per_view import GENERAL  # noqa: PLC0415 - `--help` must not wait for the stages

    async with session.memory(wait=wait) as memory:
        told = [*_general(GENERAL), *_converged(memory.rows(space))]
    output.rows(told if as_json else map(_shown, told), _COLUMNS, as_json=as_json)


def _general(general: ViewSet) -> Iterator[dict[str, Any]]:
    """Give the views that every space starts with; where ``views`` is "single", only the catch-all is asked for."""
    for view in general.views:
        detail = ViewDetail(view=view, version=general.version, holds_from=general.since)
        yield _told(detail, (), degraded=False)


def _converged(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the views of a space's own sets, by version and then by id."""
    found = [row for row in rows if isinstance(row, RecordRow) and row.view is not None]
    members = [(row, row.view) for row in found if row.view is not None and row.view.version is not None]
    told = [_told(detail, row.provenance, degraded=row.degraded) for row, detail in members]
    return sorted(told, key=lambda one: (one["version"], one["id"]))


def _told(detail: ViewDetail, turn_ids: tuple[str, ...], *, degraded: bool) -> dict[str, Any]:
    view: View = detail.view
    return {
        "version": detail.version,
        "since": detail.holds_from,
        "id": view.id,
        "name": view.name,
        "kind": view.kind.value,
        "slots": list(view.slots),
        "template": view.template,
        "seed": detail.seed,
        "neighbours": list(detail.neighbours),
        "turn_ids": list(turn_ids),
        "degraded": degraded,
    }


def _shown(told: dict[str, Any]) -> dict[str, Any]:
    """Return a view for people: what it looks for, and why it is there in words."""
    return {**told, "name": f"{told['name']} ({told['id']})", "text": told["template"], "reason": _why(told)}


def _why(told: dict[str, Any]) -> str:
    if told["seed"] is None:
        return "every space starts with it"
    if told["id"] == told["seed"] and not told["neighbours"]:
        return "always active" if not told["degraded"] else f"chosen as {told['seed']}, not rewritten"
    where = f", found in {', '.join(told['turn_ids'])}"
    if told["degraded"]:
        return f"chosen as {told['seed']}, not rewritten: no usable answer{where}"
    return f"chosen as {told['seed']}, rewritten with its {len(told['neighbours'])} nearest{where}"
