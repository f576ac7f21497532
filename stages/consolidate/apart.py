"""What looked alike and stays apart, and why, for the report of a night."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from stages.consolidate.plan import Apart
from stages.consolidate.units import Unit, about
from stages.pausing import pausing

ALIKE: Final = 900
"""Thousandths of a cosine from which a person would ask why two records are two (AutoViewMem's threshold)."""

_TOLD: Final = 200
"""Entries of a report."""


def told(units: Sequence[Unit], reason: str, score: int | None = None) -> Apart:
    """Return an entry of the report."""
    return Apart(tuple(unit.kept.id for unit in units), tuple(unit.text for unit in units), reason, score)


def near(found: Iterable[Apart]) -> tuple[Apart, ...]:
    """Return the entries that are shown: the nearest first."""
    ranked = sorted(dict.fromkeys(found), key=lambda one: (-(one.score or 0), one.ids))
    return tuple(ranked[:_TOLD])


async def twins(units: Iterable[Unit]) -> tuple[Apart, ...]:
    """Return what is the same word for word and not one: about somebody else, in another thread, of another time."""
    found: dict[Hashable, list[Unit]] = defaultdict(list)
    async for unit in pausing(units):
        found[unit.kept.kind, unit.words or unit.text].append(unit)
    return tuple(one for same in found.values() for one in _pairs(same))[:_TOLD]


def _pairs(same: Sequence[Unit]) -> Iterator[Apart]:
    yield from (told((same[0], other), _reason(same[0], other)) for other in same[1:])


def _reason(left: Unit, right: Unit) -> str:
    one, other = left.kept, right.kept
    (owner, subject, attribute), (whose, of_what, what) = about(one), about(other)
    told_ = (
        (owner != whose, "about another person"),
        (one.branch != other.branch, "in another thread"),
        (subject != of_what, "about another thing"),
        (attribute != what, "about another side of it"),
        (one.interval != other.interval, "of another time"),
        (one.negated != other.negated, "denied the one time, and not the other"),
    )
    return next((reason for differs, reason in told_ if differs), "felt about otherwise, or with other values")
