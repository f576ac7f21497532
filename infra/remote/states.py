"""Whole states of spaces, followed: the localizer needs those of the first two stages at every question.

The first question about a partition reads its state topic from the beginning (64 KB a space at most, beside vectors)
into a file of its own; later ones cost a round trip. A process that asks once pays it once a run of the command.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import TopicPartition

from infra.remote.follower import Follower
from infra.remote.layout import Layout
from schemas.space import Space
from streams.kafka.names import state_topic
from streams.kafka.states import States
from streams.kafka.wire import Record
from streams.state import StateRow


@dataclass
class FollowedStates:
    """Implements ``StateStore`` on the state topics; ``folder`` is for files that are made anew."""

    layout: Layout
    folder: Path
    _follower: Follower = field(init=False)
    _files: dict[tuple[str, int], States] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._follower = Follower(self.layout.bootstrap, self._deliver)

    async def close(self) -> None:
        """Let go of the connection and the files."""
        await self._follower.close()
        for states in self._files.values():
            states.close()

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        """Return every copy of every part of a space's state that the topic has now."""
        return await (await self._states(stage, space)).load(stage, space)

    async def version(self, stage: str, space: Space) -> int:
        """Return the version of the state header that the topic has now (0: none)."""
        return await (await self._states(stage, space)).version(stage, space)

    async def _states(self, stage: str, space: Space) -> States:
        topic = state_topic(stage, self.layout.generation)
        where = TopicPartition(topic, self.layout.partition(topic, space))
        await self._follower.catch_up([where])
        return self._file(where.topic, where.partition)

    def _file(self, topic: str, partition: int) -> States:
        if (topic, partition) not in self._files:
            self._files[topic, partition] = States(self.folder / f"{topic}-{partition}.sqlite")
        return self._files[topic, partition]

    async def _deliver(self, topic: str, partition: int, records: Sequence[Record]) -> None:
        await self._file(topic, partition).fill(_each(records))


async def _each(records: Sequence[Record]) -> AsyncIterator[Record]:
    for record in records:
        yield record
