"""Dense results of the engine in whole numbers, cut by (score, id) once all that tie were fetched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

Ranked = list[tuple[str, int]]
"""Record ids with their scores, ordered by (score descending, id)."""

SLACK: Final = 16
"""Results asked for beyond the limit: ties of more at the cut are rare, and cost a second query."""

MORE: Final = 4
"""So many times as much is asked for when a tie may go on behind what came."""


class Point(Protocol):
    """What ranking needs of a point, be it the embedded engine's or the server's."""

    @property
    def id(self) -> object:
        """A UUID, or one as it is written."""
        ...


class Scored(Point, Protocol):
    """A point with its score."""

    @property
    def score(self) -> float:
        """A dot product of int8 vectors: whole, though a float."""
        ...


def cut(points: Sequence[Scored], asked: int, limit: int) -> Ranked | None:
    """Return the ``limit`` best of what ``asked`` brought, or ``None`` if a tie may go on behind it."""
    scored = sorted([(-round(point.score), number(point)) for point in points])
    if len(points) == asked and scored[-1][0] == scored[limit - 1][0]:
        return None
    return [(name(key), -score) for score, key in scored[:limit]]


def number(point: Point) -> int:
    """Return a point's id as a number; numbers are in the order of the ids as they are written."""
    key = point.id  # made anew each time that it is asked for
    return key.int if isinstance(key, UUID) else UUID(str(key)).int


def name(key: int) -> str:
    """Return an id as it is written."""
    return str(UUID(int=key))
