"""Results of the engine in whole numbers, cut by (score, id) once all that tie were fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Protocol
from uuid import UUID

from infra.qdrant.bm25 import thousandths
from infra.qdrant.kept import MATCHES

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
        """Whole, though a float: sums of integers below 2^24."""
        ...


def by_dot(score: float) -> int:
    """Return a dot product of int8 vectors as the integer that it is."""
    return round(score)


def by_words(score: float) -> int:
    """Return a BM25 sum, an integer of 4096ths, in thousandths."""
    return thousandths(round(score))


def cut(points: Sequence[Scored], asked: int, limit: int, integer: Callable[[float], int]) -> Ranked | None:
    """Return the ``limit`` best of what ``asked`` brought, or ``None`` if a tie may go on behind it."""
    scored = sorted([(-integer(point.score), number(point)) for point in points])
    if len(points) == asked and scored[-1][0] == scored[limit - 1][0]:
        return None
    return [(name(key), -score) for score, key in scored[:limit]]


def number(point: Point) -> int:
    """Return a point's id as a number; numbers are in the order of the ids as they are written."""
    key = point.id  # made anew each time that it is asked for
    return key.int if isinstance(key, UUID) else UUID(str(key)).int


@lru_cache(maxsize=MATCHES)
def name(key: int) -> str:
    """Return an id as it is written. A recall sees a thousand, mostly those that the last one saw."""
    return str(UUID(int=key))
