"""What memory's rows say of the turns: the latest open revision of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from infra.shown import placement
from schemas.memory import ClosedRow, RecordRow, Row, TurnDetail

Detailed = tuple[RecordRow, TurnDetail]


def open_turns(rows: Iterable[Row]) -> list[Detailed]:
    """Return each turn's newest record that is not closed, with its detail, by position."""
    closed: set[str] = set()
    turns: list[Detailed] = []
    for row in rows:
        if isinstance(row, ClosedRow):
            closed.add(row.id)
        elif isinstance(row, RecordRow) and row.turn is not None:
            turns.append((row, row.turn))
    turns.sort(key=lambda turn: turn[0].since)
    newest = {detail.turn_id: (record, detail) for record, detail in turns if record.id not in closed}
    return sorted(newest.values(), key=lambda turn: turn[0].since)


def placements(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Give where each turn hangs in the forest."""
    return (placement(detail.turn_id, detail.placement) for _, detail in open_turns(rows))


def times(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Give every temporal expression with its interval."""
    for _, detail in open_turns(rows):
        for found in detail.times:
            span = found.interval.model_dump(mode="json")
            yield {"turn_id": detail.turn_id, "phrase": found.phrase, **span}


def mentions(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Give every bound deictic phrase."""
    for _, detail in open_turns(rows):
        for found in detail.mentions:
            yield {"turn_id": detail.turn_id, **found.model_dump(mode="json", exclude={"span"})}
