"""What consolidation made of a space and a question can use: persona descriptors and topic memories (AdaMem, 3.2).

They are no hits: they count no turn in evidence recall. The graph leads from them to the turns they rest on.
"""

from __future__ import annotations

from asyncio import gather
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from schemas.turn import Speaker
from stages.ports import Match, Search
from stages.recall.asking import People
from stages.recall.retrieve import TURNS, Scope
from stages.recall.scale import UNIT, Scale
from stages.text.tokens import tokens

_KINDS = frozenset({RecordKind.PERSONA, RecordKind.TOPIC})

_LIMIT = 64
"""Records looked at by sense and by words each. By sense there are only those of consolidation: a topic that route
wrote is a name, and has no vector."""

_RECENT = 8
"""Newest turns whose speakers are participants too: who is meant by "my" depends on who else is there."""

_OWNER = 2 * UNIT
"""What a record of one whom the question means gains over those that are nobody's: a deviation of each list."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The records that suit a question, best first, and those whom it means."""

    rows: tuple[RecordRow, ...] = ()
    meant: frozenset[str] = frozenset()

    def beside(self, turn_ids: Collection[str], limit: int) -> list[RecordRow]:
        """Return what belongs beside evidence on these turns: what is said of those meant, and the topics of it."""
        there = frozenset(turn_ids)
        suits = (row for row in self.rows if row.owner in self.meant or self._is_topic_of(row, there))
        return [row for row, _ in zip(suits, range(limit), strict=False)]

    @staticmethod
    def _is_topic_of(row: RecordRow, there: frozenset[str]) -> bool:
        return row.kind is RecordKind.TOPIC and not there.isdisjoint(row.provenance)


async def profile(search: Search, scope: Scope, question: Question, vector: bytes) -> Profile:
    """Return the open records that suit ``question``, whose int8 vector is given; those of others than it means last.

    Raises:
        Unavailable: if the index does not answer.
    """
    where = scope.where(_KINDS)
    asked = tokens(question.question)
    scores = _summed(*await gather(search.dense(where, vector, _LIMIT), search.sparse(where, asked, _LIMIT)))
    found = await search.fetch(scope.space, scope.as_of, list(scores)) if scores else []
    rows = [one.record for one in found if one.record.run is not None and scope.shows(one.record)]
    if not rows:
        return Profile()
    people = await _people(search, scope, {row.owner for row in rows if row.owner is not None})
    meant = people.meant(question.question, question.asker)
    worth = {row.id: scores[row.id] + (_OWNER if row.owner in meant else 0) for row in rows}
    others = {row.id for row in rows if meant and row.owner is not None and row.owner not in meant}
    return Profile(tuple(sorted(rows, key=lambda row: (row.id in others, -worth[row.id], row.id))), meant)


def _summed(by_sense: Sequence[Match], by_words: Sequence[Match]) -> dict[str, int]:
    """Return the standardized scores of what was found by sense, with those that it has by words."""
    senses, said = Scale.of([one.score for one in by_sense]), Scale.of([one.score for one in by_words])
    words = {one.record_id: said(one.score) for one in by_words}
    return {one.record_id: senses(one.score) + words.get(one.record_id, said.floor) for one in by_sense}


async def _people(search: Search, scope: Scope, owners: Collection[str]) -> People:
    """Return the participants that records are about, as their newest turns name them."""
    where = scope.where(TURNS)
    narrowed = (replace(where, owners=frozenset({one})) for one in sorted(owners))
    found = await gather(search.matching(where, _RECENT), *(search.matching(one, 1) for one in narrowed))
    named = People.of(one.record for rows in found for one in rows).speakers
    return People({owner: Speaker(id=owner) for owner in sorted(owners)} | dict(named))
