"""What a worker does a few times a day for its topics, so that compaction neither takes what is needed nor sleeps.

A worker that was frozen may leave old state rows behind new ones at any time, and compaction keeps the last row of a
key: so states are read over and appended again well before it may run. A partition that nobody writes to is never
compacted, since only a write seals the segment that is open: so one that holds something gets a heartbeat whenever it
was quiet for a while, a row of its own kind that readers pass over.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from streams.kafka.partition import Partition
from streams.kafka.shared import Shared
from streams.kafka.states import States
from streams.kafka.wire import heartbeat

FOLD_S: Final = 12 * 3600.0
"""Seconds between two readings of a state topic; compaction waits 48 hours."""

BEAT_S: Final = 6 * 3600.0
"""Seconds without a write after which a partition gets a heartbeat: a write seals a segment that is a day old, so a
quarter of that seals it soon after; and a heartbeat is a hundred bytes, of which compaction keeps one."""


@dataclass
class Upkeep:
    """Keeps the partitions of a worker; ``now`` is the loop's time (s)."""

    shared: Shared
    now: Callable[[], float]
    _folded: dict[int, float] = field(default_factory=dict)
    _looked: dict[tuple[str, int], float] = field(default_factory=dict)

    async def keep(self, partition: Partition) -> None:
        """Do what is due for a partition: heartbeats at once; its states were read at its assignment.

        Raises:
            Unavailable: if the broker does not answer.
        """
        number, now = partition.number, self.now()
        if now - self._folded.setdefault(number, now) >= FOLD_S:
            await fold(partition)
            self._folded[number] = now
        for topic in compacted(self.shared):
            if now - self._last(topic, number) >= BEAT_S:
                await beat(self.shared, topic, number)
                self._looked[topic, number] = now

    def _last(self, topic: str, number: int) -> float:
        """Return when a partition was last written to or looked at here."""
        at = topic, number
        return max(self.shared.producing.written.get(at, -BEAT_S), self._looked.get(at, -BEAT_S))

    def forget(self, number: int) -> None:
        """Forget a partition that is ours no more."""
        self._folded.pop(number, None)
        for topic in compacted(self.shared):
            self._looked.pop((topic, number), None)


def compacted(shared: Shared) -> tuple[str, ...]:
    """Return the compacted topics that the worker writes: its states, and the writer of memory that too."""
    return (shared.topics.state, shared.topics.output) if shared.is_last else (shared.topics.state,)


async def fold(partition: Partition) -> int:
    """Append the states of idle spaces again of which an old row lies last, and return how many rows that took.

    A space that is at work is left for the next time: what its lane writes meanwhile would be overtaken.
    """
    shared, topic = partition.shared, partition.shared.topics.state
    read = States(shared.folder / f"{shared.node.name}-{partition.number}-folded.sqlite")
    try:
        async with aclosing(shared.log.read(topic, partition.number)) as rows:
            await read.fill(rows)
        disturbed = {space: {(row.part, row.slot) for row in rows} for space, rows in read.disturbed()}
    finally:
        read.close()
    written = 0
    for space, keys in disturbed.items():
        if space in partition.lanes.queues or not partition.alive:
            continue
        rows_now = [row for row in partition.states.standing(space) if (row.part, row.slot) in keys]
        await partition.append(space, rows_now)
        written += len(rows_now)
    return written


async def beat(shared: Shared, topic: str, number: int) -> None:
    """Write a heartbeat to a partition that holds something: one that is empty has nothing to compact.

    Raises:
        Unavailable: if the broker does not answer.
    """
    span = await shared.log.span(topic, number)
    if span.stop > span.start:
        await shared.producing.send([heartbeat(topic, number)])
