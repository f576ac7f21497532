"""What consolidation is given of a space, and what it decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.consolidation import Decision
from schemas.memory import ITEM_KINDS, ChangedRow, ClosedRow, LeftRow, RecordRow, Row


@dataclass(frozen=True, slots=True)
class Live:
    """An open record of the snapshot. ``changed``: something superseded it; ``working``: an item that has not left."""

    row: RecordRow
    changed: bool = False
    working: bool = False


@dataclass(frozen=True, slots=True)
class Apart:
    """Records that looked alike and stay apart, and why, for people; ``score`` in thousandths of a cosine."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    reason: str
    score: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What one pass over a space decided.

    ``degraded`` counts answers of no use, in whose place rules stood; ``left`` the decisions that the bound of a run
    left to the next one.
    """

    decisions: tuple[Decision, ...] = ()
    apart: tuple[Apart, ...] = ()
    degraded: int = 0
    left: int = 0


def live(rows: Iterable[Row]) -> tuple[Live, ...]:
    """Return the open records among all rows of a space's memory, in the order of ``since`` and id."""
    records: list[RecordRow] = []
    closed, changed, left = set[str](), set[str](), set[str]()
    for row in rows:
        match row:
            case RecordRow():
                records.append(row)
            case ClosedRow():
                closed.add(row.id)
            case ChangedRow():
                changed.add(row.id)
            case LeftRow():
                left.add(row.id)
            case _:
                pass
    standing = sorted((row for row in records if row.id not in closed), key=lambda row: (row.since, row.id))
    return tuple(Live(row, row.id in changed, row.kind in ITEM_KINDS and row.id not in left) for row in standing)
