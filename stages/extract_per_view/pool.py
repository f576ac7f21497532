"""The pool of candidates: the general views, those that memory shows as of W events ago, and those in the state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from schemas.view import View
from stages.contract import WINDOW
from stages.extract_per_view.learning import Learning, order_of
from stages.extract_per_view.sets import canonical
from stages.extract_per_view.views import VIEWS
from stages.ports import Filter, History

CANDIDATE: Final = "view:candidate"
"""The attribute of the key of a candidate's record, by which it is read again."""

NEWEST: Final = 300
"""Candidates that count, the newest."""

LEAST: Final = 30
"""Distinct candidates, 3K, before which there is nothing to choose from (ours)."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A candidate, with the turns it was found in; none of a general view."""

    view: View
    turns: tuple[str, ...] = ()


async def pool(history: History, space: Space, position: int, learning: Learning) -> list[Pooled]:
    """Return the candidates, general views first, then oldest first; of exact duplicates the first.

    Raises:
        Unavailable: if the index does not answer.
    """
    as_of = position - WINDOW
    stored: list[RecordRow] = []
    if as_of >= 0:
        where = Filter(space, as_of, frozenset({RecordKind.VIEW}), key_attribute=CANDIDATE)
        stored = [one.record for one in await history.matching(where, NEWEST)]
    older = [Pooled(one.view.view, one.provenance) for one in stored if one.view is not None]
    fresh = [Pooled(one.view, one.turns) for one in learning.candidates if one.position > as_of]
    proposed = sorted((*older, *fresh), key=lambda one: order_of(one.view.id))[-NEWEST:]
    return distinct((*map(Pooled, VIEWS), *proposed))


def distinct(candidates: Iterable[Pooled]) -> list[Pooled]:
    """Return the first of each instruction."""
    first: dict[str, Pooled] = {}
    for one in candidates:
        first.setdefault(canonical(one.view), one)
    return list(first.values())
