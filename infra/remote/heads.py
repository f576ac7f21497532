"""Where the stages stand in spaces: their state headers, as the state topics say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aiokafka import TopicPartition

from infra.remote.follower import Follower
from infra.remote.layout import Layout
from schemas.space import Space
from streams.kafka.names import state_topic
from streams.kafka.wire import NEXT, REWIND, Record, is_header, read_next, read_state_row
from streams.state import STATE_HEADER, StateHeader
from streams.topology import FLOW


@dataclass
class Heads:
    """The greatest version of each state header of the partitions asked for; about 1 KB a space and stage.

    ``catch_up`` brings them up to now. Parts of states are read with them, and passed over.
    """

    layout: Layout
    _follower: Follower = field(init=False)
    _found: dict[tuple[str, int], dict[str, tuple[int, bytes]]] = field(default_factory=dict)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._follower = Follower(self.layout.bootstrap, self._deliver)
        self._stages = {state_topic(step.name, self.layout.generation): step.name for step in FLOW}

    async def close(self) -> None:
        """Let go of the connection."""
        await self._follower.close()

    async def catch_up(self, spaces: Iterable[Space], stages: Iterable[str]) -> None:
        """Read what these stages have written about these spaces (and about others of their partitions)."""
        asked = list(spaces)
        topics = [state_topic(stage, self.layout.generation) for stage in stages]
        parts = {TopicPartition(topic, self.layout.partition(topic, space)) for topic in topics for space in asked}
        await self._follower.catch_up(sorted(parts))

    async def _deliver(self, topic: str, _partition: int, records: Sequence[Record]) -> None:
        for record in records:
            self._take(topic, record)

    def _take(self, topic: str, record: Record) -> None:
        key, value, where = record.key or b"", record.value, (self._stages[topic], record.partition)
        if key == REWIND:
            self._found.pop(where, None)
            self._next.pop(where, None)
        elif key == NEXT and value is not None:
            self._next[where] = max(self._next.get(where, 0), read_next(value))
        elif value is not None and (read := read_state_row(key, value)) is not None and is_header(read[1]):
            space, row = read
            known = self._found.setdefault(where, {})
            if space not in known or known[space][0] <= row.version:
                known[space] = (row.version, row.data)

    def _where(self, stage: str, space: Space) -> tuple[str, int]:
        return stage, self.layout.partition(state_topic(stage, self.layout.generation), space)

    def head(self, stage: str, space: Space) -> StateHeader:
        """Return where a stage stood in a space when its partition was last read."""
        found = self._found.get(self._where(stage, space), {}).get(space)
        return StateHeader() if found is None else STATE_HEADER.decode(found[1])

    def finished(self, stage: str, space: Space) -> int:
        """Return the input offset before which the space's partition was finished in any space."""
        return self._next.get(self._where(stage, space), 0)
