"""The older items that a new one may change: the state's own since ``a``, memory's as of ``a``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stages.ports import Filter, Found
from stages.route.evidence import RECORDS, Evidence, changed, of_found
from stages.route.ids import item_id, made_id, person, position_of, referred
from stages.route.kept import is_suspect, made_ordinal, of_made, of_row, owner_of
from stages.route.made import Made
from stages.route.reads import Reads
from stages.route.row import KeptItem
from stages.route.rules import comparable
from stages.route.state import Known
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
    """Items that are to be judged now with what they are compared with, and the messages whose items have to wait.

    ``judging`` are what consolidation made that has to wait (``stages.route.state``).
    """

    items: list[Evidence]
    candidates: dict[Group, list[Evidence]]
    waiting: tuple[Message, ...]
    judging: tuple[int, ...] = ()


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Reader(Reads):
    """What one event may change: memory is seen as of ``position - W``, the state covers what came since."""

    def recently_made(self, wanted: Sequence[tuple[int, Made]], owner: str = "") -> list[Evidence]:
        """Return those of ``made`` that are ``wanted`` as evidence; no suspect ones."""
        vectors = {(one.position, one.ordinal): one.vector for one in self.state.vectors} if wanted else {}
        return [
            of_made(self.space, position, one, owner, vectors.get((position, made_ordinal(one.row.ordinal))))
            for position, one in wanted
            if one.is_item and not is_suspect(one.row)
        ]

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
        made = [entry for entry in self.state.judging if judged_at(entry) <= self.as_of]
        if not (messages or made):
            return Due([], {}, (), self.state.judging)
        stored = await self._shown([message for message in messages if message.position <= self.as_of], made)
        fresh = [one for segment in segments for one in self._fresh(segment)]
        ready = [one for one in fresh if one.key.attribute]
        items = [one for one in self.open([*stored, *ready]) if one.id not in gone]
        found = await self.candidates(items)
        candidates = {group: [one for one in ones if one.id not in gone] for group, ones in found.items()}
        early = {one.id for one in ready}
        late = {
            one.id
            for one in items
            if not _enough(one, self._not_shown(candidates.get(one.about, ()), everything=one.id in early))
        }
        held = late | {one.id for one in fresh if not one.key.attribute}
        judged = [one for one in items if one.id not in late]
        again = [entry for entry in self.state.judging if entry not in made or self._made(entry)[0] in held]
        judged.sort(key=lambda one: (one.order, one.id))
        return Due(judged, candidates, self._waiting(segments, held), tuple(again))

    def _not_shown(self, known: Sequence[Evidence], *, everything: bool) -> Sequence[Evidence]:
        """Return all of ``known``, or what of it consolidation made and memory does not show yet."""
        if everything or not self.made:
            return known if everything else ()
        names = {made_id(self.space, position, one.row.ordinal) for position, one in self.made}
        return [one for one in known if one.id in names]

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
        shown = (message for message in self.state.waiting if message.position <= self.as_of)
        left = (message for segment in segments for message in segment.messages)
        for message in (*shown, *left):
            late = bits(n for n in ordinals(message.route) if self._item(message, n) in held)
            if late:
                still.append(message.model_copy(update={"items": 0, "route": late}))
        return tuple(sorted(still, key=lambda one: one.position))

    def _item(self, message: Message, ordinal: int) -> str:
        return item_id(self.space, message.position, ordinal)

    def _made(self, entry: int) -> tuple[str, bool]:
        """Return the id of what consolidation made, and whether it says that something changed."""
        number, changes = divmod(entry, 2)
        return referred(self.space, number), bool(changes)

    async def _shown(self, messages: Sequence[Message], made: Sequence[int]) -> list[Evidence]:
        """Return the items of messages that memory shows, and those that consolidation ``made`` of such."""
        wanted = [
            (self._item(message, n), bool(message.changes >> n & 1))
            for message in messages
            for n in ordinals(message.route)
        ]
        wanted += map(self._made, made)
        stored = await self._fetched([name for name, _changes in wanted])
        return [changed(stored[name], changes=changes) for name, changes in wanted if name in stored]

    async def _fetched(self, names: Sequence[str]) -> dict[str, Evidence]:
        return _by_id(list((await self.fetched(names)).values()))

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
        for one in self.recently_made([(position, one) for position, one in self.made if one.row.about in groups]):
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


def judged_at(entry: int) -> int:
    """Return from which position on what consolidation made can be judged, when that is as of."""
    return position_of(entry // 2)


def _enough(item: Evidence, known: Iterable[Evidence]) -> bool:
    return all(comparable(item, old) for old in known if old.order < item.order)


def _by_id(found: Sequence[Found]) -> dict[str, Evidence]:
    ones = (of_found(one) for one in found)
    return {one.id: one for one in ones if one is not None}


def _newest(one: Evidence) -> tuple[int, int, str]:
    return -one.position, -one.said, one.id
