"""The typed graph of a turn: discourse, topic, items, forest (AdaMem, appendix B.5 and C)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas.extracted import Extracted, ItemKind
from schemas.memory import EdgeRow, EdgeType, RecordKind
from stages.route import strengths
from stages.route.evidence import Evidence
from stages.route.ids import item_id, person, turn_record_id
from stages.route.kept import is_guess, is_suspect, kind_of, owner_of
from stages.route.state import Known
from stages.route.targets import Reader
from stages.route.topics import Topic
from stages.stored import short

_TEMPORAL = {
    EdgeType.SPEAKER_NEXT: strengths.SPEAKER_NEXT,
    EdgeType.SPEAKER_PREVIOUS: strengths.SPEAKER_PREVIOUS,
    EdgeType.NEXT: strengths.NEXT,
    EdgeType.PREVIOUS: strengths.PREVIOUS,
}

_FEW = 16
"""Records read of second antecedents: a turn addresses few people, and most turns have one piece."""


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Weaver:
    """Makes the edges of the turn at ``reader.position``."""

    reader: Reader
    extracted: Extracted

    @cached_property
    def _own(self) -> str:
        return self._turn(self.reader.position)

    def _turn(self, position: int) -> str:
        return turn_record_id(self.reader.space, position)

    async def all(self, items: Sequence[Evidence], topic: Topic | None) -> list[EdgeRow]:
        """Return the edges of the turn, each at most once, in a fixed order."""
        found = [
            *self._items(items),
            *self._topic(topic),
            *self._speaker(topic),
            *self._sequence(),
            *await self._forest(),
        ]
        return list({(edge.source, edge.target, edge.type): edge for edge in found}.values())

    def of_items(self, items: Sequence[Evidence]) -> list[EdgeRow]:
        """Return the edges of items alone, which came with no turn, each at most once."""
        return list({(edge.source, edge.target, edge.type): edge for edge in self._items(items)}.values())

    def _items(self, items: Sequence[Evidence]) -> Iterator[EdgeRow]:
        for item in items:
            yield self.reader.edge(self._turn(item.said), item.id, EdgeType.SUPPORTS, strengths.SUPPORT[item.kind])
        for fact in (one for one in items if one.kind is ItemKind.FACT):
            for event in (one for one in items if one.kind is ItemKind.EVENT):
                yield self.reader.edge(fact.id, event.id, EdgeType.SUPPORTS, strengths.FACT_EVENT)
        attributes = [one for one in items if one.kind is ItemKind.ATTRIBUTE]
        before = {owner: self._last_attribute(owner) for owner in {one.key.owner for one in attributes}}
        for item in attributes:
            known = before[item.key.owner]
            if known is not None:
                yield self.reader.edge(item.id, known, EdgeType.SPEAKER_RELATED, strengths.SPEAKER_RELATED)

    def _last_attribute(self, owner: str) -> str | None:
        """Return the last attribute known of a person before this turn."""
        who = person(owner)
        for known, row in reversed(self.reader.rows):
            own = owner_of(known, row) == who and kind_of(row) is ItemKind.ATTRIBUTE
            if own and not (is_suspect(row) or is_guess(row)) and known.position < self.reader.position:
                name = item_id(self.reader.space, known.position, row.ordinal)
                if self.reader.is_open(name):
                    return name
        return None

    def _topic(self, topic: Topic | None) -> Iterator[EdgeRow]:
        if topic is not None:
            yield self.reader.edge(self._own, topic.record, EdgeType.MENTIONS, strengths.MENTIONS)

    def _speaker(self, topic: Topic | None) -> Iterator[EdgeRow]:
        """Yield the edges to the same speaker's last turn, and to their last one on this topic."""
        speaker = self.extracted.localized.normalized.turn.speaker.id
        who = person(speaker)
        own = [known for known in self._standing if known.speaker == who]
        if own:
            yield from self._both(own[-1], EdgeType.SPEAKER_NEXT, EdgeType.SPEAKER_PREVIOUS)
        else:
            yield from self._from_queue(short(speaker))
        same = [known for known in own if topic is not None and known.topic == topic.name]
        if same:
            target = self._turn(same[-1].position)
            yield self.reader.edge(self._own, target, EdgeType.SAME_TOPIC, strengths.SAME_TOPIC)

    def _from_queue(self, speaker: str) -> Iterator[EdgeRow]:
        """Yield the edges to a speaker's last turn that is older than the ring, in working memory still."""
        last = self.reader.state.working.last_of(speaker)
        if last is not None and last <= self.reader.as_of and last != self._revises:
            forward = strengths.across(strengths.SPEAKER_NEXT, same_branch=False)
            backward = strengths.across(strengths.SPEAKER_PREVIOUS, same_branch=False)
            yield self.reader.edge(self._turn(last), self._own, EdgeType.SPEAKER_NEXT, forward)
            yield self.reader.edge(self._own, self._turn(last), EdgeType.SPEAKER_PREVIOUS, backward)

    def _sequence(self) -> Iterator[EdgeRow]:
        if self._standing:
            yield from self._both(self._standing[-1], EdgeType.NEXT, EdgeType.PREVIOUS)

    @property
    def _revises(self) -> int | None:
        return self.extracted.localized.normalized.revises

    @cached_property
    def _standing(self) -> list[Known]:
        """The recent turns that no revision has replaced, this one's included."""
        revises = self._revises
        return [known for known in self.reader.state.turns if not known.revised and known.position != revises]

    def _both(self, earlier: Known, forward: EdgeType, backward: EdgeType) -> Iterator[EdgeRow]:
        same = earlier.branch == self.extracted.localized.placement.branch
        other = self._turn(earlier.position)
        ahead, back = _TEMPORAL[forward], _TEMPORAL[backward]
        yield self.reader.edge(other, self._own, forward, strengths.across(ahead, same_branch=same))
        yield self.reader.edge(self._own, other, backward, strengths.across(back, same_branch=same))

    async def _forest(self) -> list[EdgeRow]:
        placement = self.extracted.localized.placement
        parents = [self._turn(placement.parent_position)] if placement.parent_position is not None else []
        parents += await self._others(placement.other_parents)
        edges = list[EdgeRow]()
        for parent in parents:
            edges.append(self.reader.edge(self._own, parent, EdgeType.CONTINUES, strengths.CONTINUES))
            edges.append(self.reader.edge(parent, self._own, EdgeType.CONTINUED_BY, strengths.CONTINUED_BY))
        return edges

    async def _others(self, turn_ids: Sequence[str]) -> list[str]:
        """Return the records of second antecedents, which are named by turn id."""
        if not turn_ids:
            return []
        recent = {known.turn_id: known.position for known in self._standing}
        far = [name for name in turn_ids if short(name) not in recent]
        found = {short(name): position for name, position in (await self._stored(far)).items()}
        positions = [(recent | found).get(short(name)) for name in turn_ids]
        return [self._turn(position) for position in positions if position is not None]

    async def _stored(self, turn_ids: Sequence[str]) -> dict[str, int]:
        if not turn_ids:
            return {}
        where = self.reader.where(RecordKind.TURN, turn_ids=frozenset(turn_ids))
        found = await self.reader.matching(where, _FEW)
        return {one.record.provenance[0]: one.record.since for one in reversed(found)}
