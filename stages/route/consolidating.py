"""What nightly consolidation decided, done or refused: each decision whole or not at all (mechanics, consolidate 3).

A decision was made on a snapshot. What of it no longer holds when its turn comes is *stale*: it is left to the next
run, which sees memory as it is then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.consolidation import Act, Consolidation, Decision
from schemas.control import Passed
from schemas.extracted import ItemKind
from schemas.memory import (
    ITEM_KINDS,
    CloseCause,
    ClosedRow,
    EdgeRow,
    EdgeType,
    LeftRow,
    RecordContent,
    RecordKind,
    RecordRow,
)
from schemas.routed import RecordVector, RoutedRow
from stages.route.ids import MOST_ORDINALS, made_reference
from stages.route.made import FULL, ROOM, Made, MadeEvent, cost
from stages.route.making import kept_vectors, left, made_of, record_of, resting
from stages.route.reads import Reads
from stages.route.routers import clip
from stages.route.sources import DERIVED, Named, Source, name_of, references, sources, standing, unjudged
from stages.route.state import KeptVector
from stages.route.strengths import SUPERSEDES, SUPPORT
from stages.text.spoken import has_vector

_HEAD = 32
"""Bytes of an event's entry beside what it holds, and of a part's name."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The rows of an event, the vectors of its records, how many decisions were stale, and what the state keeps.

    ``judging`` are those of the records that are to be judged once memory shows them (``RouteState``).
    """

    rows: tuple[RoutedRow, ...]
    vectors: tuple[RecordVector, ...]
    stale: int
    made: MadeEvent
    judging: tuple[int, ...]
    kept: tuple[KeptVector, ...]


@dataclass(slots=True)
class _Night:
    """An event's decisions, taken one after the other.

    ``former`` are references of what records that come back stand for themselves, ``size`` the bytes that the state
    holds so far.
    """

    reader: Reads
    known: Mapping[str, Source]
    standing: dict[str, Named]
    unjudged: Mapping[int, bool]
    former: Mapping[str, int]
    size: int
    records: list[RecordRow] = field(default_factory=list)
    left: list[LeftRow] = field(default_factory=list)
    edges: dict[tuple[str, str, EdgeType], EdgeRow] = field(default_factory=dict)
    closed: dict[str, ClosedRow] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    judging: list[int] = field(default_factory=list)
    stale: int = 0

    def take(self, decision: Decision, records: Mapping[int, RecordRow]) -> None:
        """Do a decision, if all of it can be done; ``records`` are its records by their ordinals in the event."""
        if not self._holds(decision, records.values()):
            self.stale += 1
            return
        made = list(self._kept(decision, records))
        stood = {number for one in made for number in one.stood}
        gone = [number for number in self._numbers(decision) if number not in stood]
        judging = [entry for one in made for entry in self._unjudged(one)]
        more = sum(map(cost, made)) + sum(map(cost, (*gone, *judging)))
        if self.size + more > ROOM or any(ordinal >= MOST_ORDINALS for ordinal in records):
            self.stale += 1
            return
        self.size += more
        self.made += made
        self.gone += gone
        self.judging += judging
        self._write(decision, list(records.values()))

    def _holds(self, decision: Decision, records: Iterable[RecordRow]) -> bool:
        return self._unchanged(decision) and not self._there(decision, records)

    def _unchanged(self, decision: Decision) -> bool:
        for one in decision.sources:
            source = self.known.get(one.id)
            if source is None or source.text != one.text_hash or one.id in self.closed:
                return False
            if one.retired and (source.number is None or (source.is_said and not _may_retire(decision))):
                return False
        return True

    def _unjudged(self, one: Made) -> Iterator[int]:
        """Give the entry of a record made of such as was not compared with what is older: it will be in their place."""
        found = [self.unjudged[number] for number in one.stood if number in self.unjudged]
        if found and one.is_item:
            yield 2 * made_reference(self.reader.position, one.row.ordinal) + any(found)

    def _numbers(self, decision: Decision) -> list[int]:
        found = (self.known[one.id].number for one in decision.retired)
        return [number for number in found if number is not None]

    def _there(self, decision: Decision, records: Iterable[RecordRow]) -> bool:
        """Tell whether one of the topics or personas stands already: then the decision was done before."""
        gone = {one.id for one in decision.retired} | set(self.closed)
        open_ones = {named for name, named in self.standing.items() if name not in gone}
        return any(name_of(record) in open_ones for record in records)

    def _kept(self, decision: Decision, records: Mapping[int, RecordRow]) -> Iterator[Made]:
        full = self.size < FULL
        numbers = dict(zip((one.id for one in decision.retired), self._numbers(decision), strict=True))
        for ordinal, record in records.items():
            back = record.stands_for if record.kind not in DERIVED else ()  # the next night makes those again
            stood = (numbers.get(name, self.former.get(name)) for name in back)
            yield made_of(record, ordinal, (number for number in stood if number is not None), full=full)

    def _write(self, decision: Decision, records: Sequence[RecordRow]) -> None:
        self.records += records
        for record in records:
            self.left += left(self.reader, record)
            self._weave(resting(self.reader, record, self._said(decision, record)))
            named = name_of(record)
            if named is not None:
                self.standing[record.id] = named
        self._weave(self._persona(decision, records))
        successors = {name: record.id for record in reversed(records) for name in record.stands_for}
        for one in decision.retired:
            self._retire(decision, one.id, successors.get(one.id, records[0].id if records else None))

    def _said(self, decision: Decision, record: RecordRow) -> Iterator[int]:
        """Give the positions of the turns that a record rests on, as far as they are known."""
        if record.said_at is not None and record.kind not in DERIVED:
            yield record.said_at
        if decision.act is Act.UNDO:
            return  # what a merge took together was said by different turns
        within = set(record.stands_for) if record.kind in ITEM_KINDS else set[str]()
        for one in decision.sources:
            said = self.known[one.id].said
            if said is not None and (not within or one.id in within) and record.kind is not RecordKind.PERSONA:
                yield said

    def _persona(self, decision: Decision, records: Sequence[RecordRow]) -> Iterator[EdgeRow]:
        """Give the edges from items to the personas that rest on them."""
        for record in (one for one in records if one.kind is RecordKind.PERSONA):
            for one in decision.sources:
                if not one.retired:
                    yield self.reader.edge(one.id, record.id, EdgeType.SUPPORTS, SUPPORT[ItemKind.ATTRIBUTE])

    def _retire(self, decision: Decision, name: str, successor: str | None) -> None:
        self.closed[name] = ClosedRow(
            space=self.reader.space,
            id=name,
            until=self.reader.position,
            cause=CloseCause.UNDO if decision.act is Act.UNDO else CloseCause.MERGE,
            successor=successor,
            reason=clip(decision.reason),
        )
        if successor is not None:
            self._weave([self.reader.edge(successor, name, EdgeType.SUPERSEDES, SUPERSEDES)])

    def _weave(self, edges: Iterable[EdgeRow]) -> None:
        for edge in edges:
            self.edges.setdefault((edge.source, edge.target, edge.type), edge)


async def consolidate(reader: Reads, message: Passed, body: Consolidation) -> Consolidated:
    """Do what still can be done of an event's decisions.

    Raises:
        Unavailable: if the index does not answer.
    """
    names = dict.fromkeys(one.id for decision in body.decisions for one in decision.sources)
    retired = {one.id for decision in body.decisions for one in decision.retired}
    night = _Night(
        reader,
        await sources(reader, names, retired),
        await standing(reader, body.records),
        unjudged(reader),
        await references(reader, [name for one in _brought_back(body) for name in one.stands_for]),
        sum(len(name) + len(data) for name, data in reader.state.made_parts().items()) + _HEAD,
    )
    records = {n: record_of(reader, n, content) for n, content in enumerate(body.records)}
    first = 0
    for decision in body.decisions:
        behind = first + len(decision.records)
        night.take(decision, {n: records[n] for n in range(first, behind)})
        first = behind
    return _consolidated(night, _vectors(message, records))


def _may_retire(decision: Decision) -> bool:
    """Tell whether a decision may retire what a turn said: something has to come in its place (issue 8)."""
    return bool(decision.records) and decision.act not in {Act.TOPIC, Act.PERSONA}


def _brought_back(body: Consolidation) -> list[RecordContent]:
    return [one for decision in body.decisions if decision.act is Act.UNDO for one in decision.records]


def _vectors(message: Passed, records: Mapping[int, RecordRow]) -> dict[int, bytes]:
    """Return the vectors that came with the event, by the ordinals of their records."""
    wanted = (n for n, record in records.items() if has_vector(record))
    return dict(zip(wanted, message.vectors, strict=False))


def _consolidated(night: _Night, vectors: dict[int, bytes]) -> Consolidated:
    own = [(one.row.ordinal, record) for one, record in zip(night.made, night.records, strict=True)]
    given = (RecordVector(record_id=r.id, vector=vectors[n]) for n, r in own if n in vectors)
    position = night.reader.position
    return Consolidated(
        rows=(*night.records, *night.left, *night.edges.values(), *night.closed.values()),
        vectors=tuple(given),
        stale=night.stale,
        made=MadeEvent(position=position, records=tuple(night.made), gone=tuple(night.gone)),
        judging=tuple(night.judging),
        kept=kept_vectors(position, night.made, vectors),
    )
