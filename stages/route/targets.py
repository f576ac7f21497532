"""The older items that a new one may change: the state's own since ``a``, memory's as of ``a``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from schemas.extracted import ItemKind
from schemas.memory import RecordKind
from schemas.space import Space
from stages.contract import WINDOW
from stages.ports import Filter, Found, History
from stages.route.evidence import Evidence, changed, item_id, of_found, of_kept
from stages.route.state import KeptItem, RouteState, whole
from stages.route.working import Leaving

NEAREST = 8
"""Items of one key that are looked at, the closest: a key has few open ones, and retirement is capped anyway."""

RECORDS = {
    ItemKind.EVENT: RecordKind.EVENT,
    ItemKind.FACT: RecordKind.FACT,
    ItemKind.ATTRIBUTE: RecordKind.ATTRIBUTE,
}

Group = tuple[ItemKind, str, str | None, str]


@dataclass(frozen=True, slots=True)
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

    def recent(self, wanted: Callable[[KeptItem], bool]) -> list[Evidence]:
        """Return the items of the last W events that the state keeps and that are ``wanted``, oldest first."""
        kept = [one for one in self.state.items if one.position > self.as_of and wanted(one)]
        if not kept:
            return []
        speakers = {known.position: known.speaker for known in self.state.turns}
        vectors = {(entry.position, entry.ordinal): entry.vector for entry in self.state.vectors}
        return [
            of_kept(self.space, one, speakers[one.position], vectors.get((one.position, one.ordinal)))
            for one in kept
            if one.position in speakers
        ]

    async def leaving(self, segments: Sequence[Leaving]) -> list[Evidence]:
        """Return the items of leaving messages that are to be routed, oldest first."""
        positions = {message.position for segment in segments for message in segment.messages}
        recent = {one.id: one for one in self.recent(lambda kept: kept.position in positions)}
        wanted = [
            (item_id(self.space, message.position, ordinal), message, ordinal in message.changes)
            for segment in segments
            for message in segment.messages
            for ordinal in message.route
        ]
        stored = await self._fetched([name for name, message, _changes in wanted if message.position <= self.as_of])
        found = [
            one if one.id in recent else changed(one, changes=changes)
            for name, _message, changes in wanted
            if (one := recent.get(name) or stored.get(name)) is not None
        ]
        return sorted(self.open(found), key=lambda one: (one.position, one.id))

    async def _fetched(self, names: Sequence[str]) -> dict[str, Evidence]:
        if self.as_of < 0 or not names:
            return {}
        return _by_id(await self.history.fetch(self.space, self.as_of, names))

    async def candidates(self, items: Sequence[Evidence]) -> dict[Group, list[Evidence]]:
        """Return the open items on the keys of ``items``, newest first."""
        found: dict[Group, dict[str, Evidence]] = defaultdict(dict)
        groups: dict[Group, list[Evidence]] = defaultdict(list)
        for item in items:
            groups[item.about].append(item)
        for group, members in groups.items():
            for one in await self._stored(members):
                if one.about == group:
                    found[group][one.id] = one
        attributes = {group[3] for group in groups}
        for one in self.recent(lambda kept: kept.attribute in attributes):
            if one.about in groups:
                found[one.about][one.id] = one
        return {group: sorted(self.open(ones.values()), key=_newest) for group, ones in found.items()}

    async def _stored(self, members: Sequence[Evidence]) -> list[Evidence]:
        if self.as_of < 0:
            return []
        where = self._filter(members[0])
        vectors = [one.vector for one in members if one.vector is not None]
        runs = await self.history.nearest(where, vectors, NEAREST) if vectors else []
        if len(vectors) < len(members):
            runs = [*runs, await self.history.matching(where, NEAREST)]
        return list(_by_id([found for run in runs for found in run]).values())

    def _filter(self, item: Evidence) -> Filter:
        owner = item.key.owner
        return Filter(
            space=self.space,
            as_of=self.as_of,
            kinds=frozenset({RECORDS[item.kind]}),
            owners=frozenset({owner}) if whole(owner) else None,
            key_attribute=item.key.attribute,
            key_subject=item.key.subject,
        )

    def open(self, items: Iterable[Evidence]) -> list[Evidence]:
        """Return the items that no event of the last W has closed or marked as changed."""
        gone = self.state.closed | self.state.changed
        return [one for one in items if one.id not in gone]


def _by_id(found: Sequence[Found]) -> dict[str, Evidence]:
    ones = (of_found(one) for one in found)
    return {one.id: one for one in ones if one is not None}


def _newest(one: Evidence) -> tuple[int, str]:
    return -one.position, one.id
