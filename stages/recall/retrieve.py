"""The searches of one question: dense and BM25, over turns with their items and over windows, all at once."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.localized import Placement
from schemas.memory import ITEM_KINDS, RecordKind, RecordRow
from schemas.recall import Question
from schemas.space import Space
from stages.ports import Filter, Match, Search
from stages.recall.asking import speaks_of_self
from stages.recall.pool import Hits
from stages.text.tokens import tokens

TURNS = frozenset({RecordKind.TURN})
ITEMS = frozenset({*ITEM_KINDS, RecordKind.STRUCTURED})
OWN = TURNS | ITEMS
"""Records that say what one turn says. They share one list, so that a turn competes with its best projection."""

WINDOWS = frozenset({RecordKind.WINDOW})

OWN_LIMIT = 100
WINDOW_LIMIT = 100
"""Records a list. More blur the list's mean and deviation, and cost: 200 and 150 take 4 ms longer for 0.6 points of
evidence recall at 10; 400 lose 0.3 again."""


_PIECES = 128
"""Records read of the turn that asks: only its first piece knows its placement."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What of a space a question may see: everything up to a position, less the turn that asks.

    ``is_now``: nothing is known beyond it, so that the forest of the present is the one that the question meets.
    ``asking`` is the record of the turn that asks, where memory has it: it knows its time and its place in the forest.
    ``newest`` is that of the newest turn: events that are no turns, such as those of a night, may follow it.
    """

    space: Space
    as_of: int
    without: str | None = None
    is_now: bool = True
    asking: RecordRow | None = None
    newest: RecordRow | None = None

    @property
    def without_position(self) -> int | None:
        """The position of the turn that asks, where memory has it."""
        return self.asking.since if self.asking is not None else None

    @property
    def placement(self) -> Placement | None:
        """Where the turn that asks was placed when it came."""
        return self.asking.turn.placement if self.asking is not None and self.asking.turn is not None else None

    def where(self, kinds: frozenset[RecordKind]) -> Filter:
        """Return the filter for records of ``kinds``."""
        return Filter(space=self.space, as_of=self.as_of, kinds=kinds)

    def admits(self, match: Match) -> bool:
        """Tell whether a match is free of the asking turn: not of it, and no window that shows it.

        A window is known with the turn after its anchor: those around position p have ``since`` p to p + 2.
        """
        if match.turn_id == self.without or self.without in match.others:
            return False
        if self.without_position is None or match.kind is not RecordKind.WINDOW:
            return True
        return not self.without_position <= match.since <= self.without_position + 2

    def windowless(self, position: int) -> bool:
        """Tell whether the turn at ``position`` has no window here: it is the last, or beside the asking turn."""
        asking = self.without_position
        last = self.as_of if self.newest is None else self.newest.since
        return position >= last or (asking is not None and abs(position - asking) <= 1)

    def shows(self, row: RecordRow) -> bool:
        """Tell whether a record rests on nothing that the asking turn said."""
        return self.without not in row.provenance


async def seen(search: Search, space: Space, question: Question) -> Scope:
    """Return the scope of a question: as of its own position if it has one, never beyond what is all there."""
    last = await search.watermark(space)
    as_of = last if question.as_of is None else min(question.as_of, last)
    scope = Scope(space, as_of, question.for_turn, is_now=as_of == last)
    newest = await search.matching(scope.where(TURNS), 1) if as_of >= 0 else []
    scope = replace(scope, newest=newest[0].record if newest else None)
    if question.for_turn is None:
        return scope
    where = replace(scope.where(TURNS), turn_ids=frozenset({question.for_turn}), closed_too=True)
    newest_first = [one.record for one in await search.matching(where, _PIECES)]
    return replace(scope, asking=next((row for row in newest_first if row.turn is not None), None))


def _limits(k: int) -> tuple[int, int]:
    return max(OWN_LIMIT, k), max(WINDOW_LIMIT, k)


@dataclass(frozen=True, slots=True)
class Retriever:
    """Runs the searches of one question; ``k`` above the usual limits widens them.

    All methods raise ``Unavailable`` when the index does not answer.
    """

    search: Search
    scope: Scope
    question: Question

    async def by_words(self) -> list[Hits]:
        """Return what BM25 finds: own records, then windows."""
        asked = [*tokens(self.question.question), *await self._asker_tokens()]
        limits = _limits(self.question.k)
        found = await gather(
            self.search.sparse(self.scope.where(OWN), asked, limits[0]),
            self.search.sparse(self.scope.where(WINDOWS), asked, limits[1]),
        )
        complete = [len(matches) < limit for matches, limit in zip(found, limits, strict=True)]
        own, windows = map(self._admitted, found)
        return [Hits("bm25", own, complete[0]), Hits("bm25", windows, complete[1], instead=0)]

    async def by_sense(self, vector: bytes) -> list[Hits]:
        """Return what is near the question's vector: own records, then windows."""
        limits = _limits(self.question.k)
        found = await gather(
            self.search.dense(self.scope.where(OWN), vector, limits[0]),
            self.search.dense(self.scope.where(WINDOWS), vector, limits[1]),
        )
        own, windows = map(self._admitted, found)
        return [Hits("dense", own), Hits("dense", windows, instead=2)]

    def _admitted(self, matches: Sequence[Match]) -> Sequence[Match]:
        return matches if self.scope.without is None else [one for one in matches if self.scope.admits(one)]

    async def _asker_tokens(self) -> Sequence[str]:
        """Return the asker's name as words: "my sister" is said of them by name in items and windows.

        Nobody's name is "user"; as a word it would be about something else.
        """
        asker = self.question.asker
        if asker is None or not speaks_of_self(self.question.question):
            return []
        newest = await self.search.matching(replace(self.scope.where(TURNS), owners=frozenset({asker})), 1)
        speaker = newest[0].record.speaker if newest else None
        return tokens(speaker.label) if speaker and speaker.label.casefold() != speaker.role else []


def asked_at(scope: Scope, question: Question) -> datetime | None:
    """Return when the question is asked: as told, else with its own turn, else at the last turn seen, if any."""
    if question.asked_at is not None:
        return question.asked_at
    last = scope.asking or scope.newest
    return None if last is None else last.at
