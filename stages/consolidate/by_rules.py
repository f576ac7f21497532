"""Merging by rules: the same words, and a statement that another one holds whole (mechanics, consolidate 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Final

from schemas.memory import RecordKind, RecordRow
from stages.consolidate.containment import contains
from stages.consolidate.contents import in_order, place
from stages.consolidate.graph import Edge
from stages.consolidate.terms import terms
from stages.consolidate.units import Unit, fill_otherwise, forbidden
from stages.pausing import pausing

WHOLE: Final = "one says all that the other says"

_TRIED: Final = 32
"""Statements that are tried as what holds another one, the longest: thousands that nearly do would take hours."""

_Rank = tuple[int, int, int]
"""What may hold a unit: its terms, its cosine, and less its number; the highest one does."""


async def exact(rows: Iterable[RecordRow]) -> list[Unit]:
    """Return records of one group as units: those of one canonical text or structured form are one."""
    found: dict[Hashable, list[Unit]] = defaultdict(list)
    async for row in pausing(in_order(rows)):
        alone = Unit((row,), row, row.text)
        known = found[_form(row)]
        at = next((at for at, unit in enumerate(known) if _are_one(unit, alone)), None)
        if at is None:
            known.append(alone)
        else:
            known[at] = known[at].with_((alone,), known[at].text, "the same words")
    return sorted((unit for units in found.values() for unit in units), key=lambda unit: place(unit.kept))


def _form(row: RecordRow) -> Hashable:
    if row.kind is RecordKind.STRUCTURED:
        return tuple(_words(text) for text in (row.heading, *row.members))
    return _words(row.text)


def _words(text: str) -> Hashable:
    """Return the terms of a text; a text without any, as one of emojis, is only itself."""
    return tuple(term.text for term in terms(text)) or text


def _are_one(left: Unit, right: Unit) -> bool:
    """Tell whether the same words are one: how the turns around them feel does not matter, values that they fill do."""
    cased = all(one.says(other) for one, other in zip(left.terms, right.terms, strict=False))
    return cased and not fill_otherwise(left.rows, right.rows)


def contained(units: Sequence[Unit], found: Sequence[Edge]) -> list[Unit]:
    """Return units of one group with those that are held whole by a near one put into it: the longest, then nearest.

    It goes on until nothing is left that holds what else is left, so that to do it again changes nothing.
    """
    standing = dict(enumerate(units))
    known: dict[tuple[int, int], bool] = {}
    while into := _into(standing, found, known):
        done = len(standing)
        for short, long in into:
            if forbidden(standing[long], standing[short]) is None:
                held = standing.pop(short)
                standing[long] = standing[long].with_((held,), standing[long].text, WHOLE)
        if len(standing) == done:
            break
    return [standing[at] for at in sorted(standing)]


def _into(
    standing: Mapping[int, Unit], found: Iterable[Edge], known: dict[tuple[int, int], bool]
) -> list[tuple[int, int]]:
    """Return which unit goes into which; what goes into one that goes into another goes into that one at once.

    ``known`` remembers whose words hold whose.
    """
    ranks: dict[int, list[_Rank]] = defaultdict(list)
    for edge in found:
        if edge.one in standing and edge.other in standing:
            one, other = len(standing[edge.one].terms), len(standing[edge.other].terms)
            short, long = (edge.one, edge.other) if one < other else (edge.other, edge.one)
            ranks[short].append((max(one, other), edge.score, -long))
    holders: dict[int, _Rank] = {}
    for short, every in ranks.items():
        likely = nlargest(_TRIED, every)
        best = next((one for one in likely if _holds(standing, -one[2], short, known)), None)
        if best is not None:
            holders[short] = best
    return [(short, _top(short, holders)) for short in sorted(holders)]


def _holds(standing: Mapping[int, Unit], long: int, short: int, known: dict[tuple[int, int], bool]) -> bool:
    if forbidden(standing[long], standing[short]) is not None:
        return False
    if (long, short) not in known:
        known[long, short] = contains(standing[long].terms, standing[short].terms)
    return known[long, short]


def _top(at: int, holders: Mapping[int, _Rank]) -> int:
    """Return what holds what holds a unit; each is longer than the one before, so there is an end."""
    while at in holders:
        at = -holders[at][2]
    return at
