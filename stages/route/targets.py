"""The older items that a new one may change: the state's own since ``a``, memory's as of ``a``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schemas.memory import EdgeRow, EdgeType, RecordKind
from schemas.space import Space
from stages.contract import WINDOW
from stages.ports import Filter, Found, History
from stages.route.evidence import RECORDS, Evidence, changed, of_found
from stages.route.ids import item_id, mark, person
from stages.route.kept import is_suspect, of_row, owner_of
from stages.route.rules import comparable
from stages.route.state import KeptItem, Known, RouteState
from stages.route.working import Leaving, Message, bits, ordinals
from stages.stored import whole

NEAREST = 8
"""Items of one key that are looked at, the closest: a key has few open ones, and retirement is capped anyway."""

_ANYBODY = "~"
"""An owner whose id is not known, as for ids that are kept as digests: the key says whose item it is."""

Group = str
"""What stands for a kind and a key (``about_of``)."""


@dataclass(frozen=True, slots=True)
class Due:
    """Items that are to be judged now with what they are compared with, and the messages whose items have to wait."""

    items: list[Evidence]
    candidates: dict[Group, list[Evidence]]
    waiting: tuple[Message, ...]


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Reader:
    """Reads for one event: memory is seen as of ``position - W``, the state covers what came since."""

    history: History
    space: Space
    position: int
    state: RouteState

    @property
    def as_of(self) -> int:
        """The last position that memory is read at; below 0 there is nothing to read."""
        return self.position - WINDOW

    def where(
        self, *kinds: RecordKind, turn_ids: frozenset[str] | None = None, key_attribute: str | None = None
    ) -> Filter:
        """Return the filter of the records of these kinds that this event may read."""
        return Filter(self.space, self.as_of, frozenset(kinds), turn_ids=turn_ids, key_attribute=key_attribute)

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest ``limit`` records that ``where`` selects; none where the space is too young to be read.

        Raises:
            Unavailable: if the index does not answer.
        """
        return [] if self.as_of < 0 else await self.history.matching(where, limit)

    async def fetched(self, name: str) -> Found | None:
        """Return a record as memory shows it, ``None`` where it does not show it yet.

        Raises:
            Unavailable: if the index does not answer.
        """
        found = [] if self.as_of < 0 else await self.history.fetch(self.space, self.as_of, [name])
        return found[0] if found else None

    def edge(self, source: str, target: str, kind: EdgeType, strength: int) -> EdgeRow:
        """Return an edge of this event; ``strength`` in hundredths."""
        return EdgeRow(
            space=self.space, source=source, target=target, type=kind, strength=strength, since=self.position
        )

    @cached_property
    def rows(self) -> list[tuple[Known, KeptItem]]:
        """The items of the last W events, oldest first."""
        as_of = self.as_of
        return [(known, row) for known in self.state.turns if known.position > as_of for row in known.items]

    def recent(self, wanted: Sequence[tuple[Known, KeptItem]], owner: str = "") -> list[Evidence]:
        """Return those of ``rows`` that are ``wanted`` as evidence; no suspect ones."""
        found = [(known, row) for known, row in wanted if not is_suspect(row)]
        vectors = {(one.position, one.ordinal): one.vector for one in self.state.vectors} if found else {}
        return [
            self._timed(of_row(self.space, known, row, owner, vectors.get((known.position, row.ordinal))))
            for known, row in found
        ]

    def _timed(self, one: Evidence) -> Evidence:
        """Return an item of a chunk's earlier turn with the time of that turn, where the state has it still."""
        told = self.state.turn(one.said) if one.back else None
        return one if told is None else replace(one, at=told.at)

    async def due(self, segments: Sequence[Leaving], gone: Collection[str]) -> Due:
        """Return what of the leaving segments, and of what waited so far, can be judged now; ``gone`` are left out.

        What memory shows is judged against all that was said before. A newer item is judged if the state knows enough
        of it and of all that stands on its key; else it waits until memory shows it.
        """
        messages = [*self.state.waiting, *(message for segment in segments for message in segment.messages)]
        if not messages:
            return Due([], {}, ())
        stored = await self._shown([message for message in messages if message.position <= self.as_of])
        fresh = [one for segment in segments for one in self._fresh(segment)]
        ready = [one for one in fresh if one.key.attribute]
        items = [one for one in self.open([*stored, *ready]) if one.id not in gone]
        found = await self.candidates(items)
        candidates = {group: [one for one in ones if one.id not in gone] for group, ones in found.items()}
        early = {one.id for one in ready}
        late = {one.id for one in items if one.id in early and not _enough(one, candidates.get(one.about, ()))}
        held = late | {one.id for one in fresh if not one.key.attribute}
        judged = [one for one in items if one.id not in late]
        return Due(sorted(judged, key=lambda one: (one.order, one.id)), candidates, self._waiting(segments, held))

    def _fresh(self, segment: Leaving) -> list[Evidence]:
        """Return the items of a segment that memory does not show yet."""
        route = {message.position: message.route for message in segment.messages}
        left = [(known, row) for known, row in self.rows if route.get(known.position, 0) >> row.ordinal & 1]
        groups: dict[str, list[tuple[Known, KeptItem]]] = defaultdict(list)
        for pair in left:
            groups[self._owner(*pair, segment.participant)].append(pair)
        order = sorted(groups, key=lambda owner: (owner == _ANYBODY, owner != segment.participant))  # the known first
        return [one for owner in order for one in self.recent(groups[owner], owner)]

    def _owner(self, known: Known, row: KeptItem, leaving: str) -> str:
        """Return the id of whom an item of a leaving message is about, as far as working memory knows.

        The opener of a chunk has a queue of their own, whoever closed the chunk.
        """
        owner = owner_of(known, row)
        return leaving if owner == known.speaker else self._participants.get(owner, _ANYBODY)

    @cached_property
    def _participants(self) -> dict[str, str]:
        return {person(queue.participant): queue.participant for queue in self.state.working.queues}

    def _waiting(self, segments: Sequence[Leaving], held: Collection[str]) -> tuple[Message, ...]:
        still = [message for message in self.state.waiting if message.position > self.as_of]
        fresh = (message for segment in segments for message in segment.messages if message.position > self.as_of)
        for message in fresh:
            late = bits(n for n in ordinals(message.route) if self._item(message, n) in held)
            if late:
                still.append(message.model_copy(update={"items": 0, "route": late}))
        return tuple(sorted(still, key=lambda one: one.position))

    def _item(self, message: Message, ordinal: int) -> str:
        return item_id(self.space, message.position, ordinal)

    async def _shown(self, messages: Sequence[Message]) -> list[Evidence]:
        """Return the items of messages that memory shows."""
        wanted = [
            (self._item(message, n), bool(message.changes >> n & 1))
            for message in messages
            for n in ordinals(message.route)
        ]
        stored = await self._fetched([name for name, _changes in wanted])
        return [changed(stored[name], changes=changes) for name, changes in wanted if name in stored]

    async def _fetched(self, names: Sequence[str]) -> dict[str, Evidence]:
        if self.as_of < 0 or not names:
            return {}
        return _by_id(await self.history.fetch(self.space, self.as_of, names))

    async def candidates(self, items: Sequence[Evidence]) -> dict[Group, list[Evidence]]:
        """Return the open items on the keys of ``items``, newest first."""
        if not items:
            return {}
        found: dict[Group, dict[str, Evidence]] = defaultdict(dict)
        groups: dict[Group, list[Evidence]] = defaultdict(list)
        for item in items:
            groups[item.about].append(item)
        for group, members in groups.items():
            for one in await self._stored(members):
                if one.about == group:
                    found[group][one.id] = one
        for one in self.recent([(known, row) for known, row in self.rows if row.about in groups]):
            found[one.about][one.id] = one
        return {group: sorted(self.open(ones.values()), key=_newest) for group, ones in found.items()}

    async def _stored(self, members: Sequence[Evidence]) -> list[Evidence]:
        if self.as_of < 0:
            return []
        where = self._on_key(members[0])
        vectors = [one.vector for one in members if one.vector is not None]
        runs = await self.history.nearest(where, vectors, NEAREST) if vectors else []
        if len(vectors) < len(members):
            runs = [*runs, await self.history.matching(where, NEAREST)]
        return list(_by_id([found for run in runs for found in run]).values())

    def _on_key(self, item: Evidence) -> Filter:
        owner = item.key.owner
        return Filter(
            self.space,
            self.as_of,
            frozenset({RECORDS[item.kind]}),
            owners=frozenset({owner}) if whole(owner) else None,
            key_attribute=item.key.attribute,
            key_subject=item.key.subject,
        )

    def open(self, items: Iterable[Evidence]) -> list[Evidence]:
        """Return the items that no event of the last W has closed or marked as changed."""
        return [one for one in items if self.is_open(one.id)]

    def is_open(self, name: str) -> bool:
        """Tell whether no event of the last W has closed the record or marked it as changed."""
        return mark(name) not in self._gone

    @cached_property
    def _gone(self) -> frozenset[str]:
        return self.state.closed | self.state.changed


def _enough(item: Evidence, known: Iterable[Evidence]) -> bool:
    return all(comparable(item, old) for old in known if old.order < item.order)


def _by_id(found: Sequence[Found]) -> dict[str, Evidence]:
    ones = (of_found(one) for one in found)
    return {one.id: one for one in ones if one is not None}


def _newest(one: Evidence) -> tuple[int, int, str]:
    return -one.position, -one.said, one.id
