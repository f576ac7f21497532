"""What route reads for one event, in memory and in its own state."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from schemas.memory import EdgeRow, EdgeType, RecordKind
from schemas.space import Space
from stages.contract import WINDOW
from stages.ports import Filter, Found, History
from stages.route.ids import mark, referred
from stages.route.made import Made
from stages.route.row import KeptItem
from stages.route.state import Known, RouteState


@dataclass(frozen=True)  # no slots: what is asked for repeatedly is kept
class Reads:
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

    async def fetched(self, names: Collection[str]) -> dict[str, Found]:
        """Return those of these records that memory shows, closed ones too, in one read.

        Raises:
            Unavailable: if the index does not answer.
        """
        if self.as_of < 0 or not names:
            return {}
        return {one.record.id: one for one in await self.history.fetch(self.space, self.as_of, list(names))}

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

    @cached_property
    def made(self) -> list[tuple[int, Made]]:
        """What consolidation made in the last W events, with the positions at which it did, oldest first."""
        as_of = self.as_of
        return [(event.position, one) for event in self.state.made if event.position > as_of for one in event.records]

    def is_open(self, name: str) -> bool:
        """Tell whether no event of the last W has closed the record or marked it as changed."""
        return mark(name) not in self._gone

    def is_closed(self, name: str) -> bool:
        """Tell whether an event of the last W has closed the record."""
        return mark(name) in self._closed

    @cached_property
    def _closed(self) -> frozenset[str]:
        """Marks of what was closed in the last W events."""
        numbers = (number for event in self.state.made for one in event.records for number in one.stood)
        gone = (number for event in self.state.made for number in event.gone)
        return self.state.closed.union(mark(referred(self.space, number)) for number in (*numbers, *gone))

    @cached_property
    def _gone(self) -> frozenset[str]:
        return self._closed | self.state.changed
