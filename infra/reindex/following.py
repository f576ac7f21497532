"""The topic ``memory`` as what a follower copies from: a snapshot on the local disk that is brought up to now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiokafka import TopicPartition

from infra.remote.follower import Follower
from infra.remote.layout import Layout
from streams.kafka.wire import Record
from streams.snapshot import Fetched, Snapshot

_TOMBSTONES_S: Final = 6 * 24 * 3600.0
"""Seconds after which a snapshot is begun afresh: tombstones of the topic stay 7 days, and one may have been missed."""

_now = time.time  # noqa: TID251 - the age of a file


@dataclass
class FollowedMemory:
    """A snapshot and where it comes from. ``refresh`` before each look: in between the copy may be half of an event."""

    layout: Layout
    path: Path
    snapshot: Snapshot = field(init=False)
    _follower: Follower = field(init=False)

    def __post_init__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and _now() - _touched(self.path) > _TOMBSTONES_S:
            remove(self.path)
        self.snapshot = Snapshot(self.path)
        self._follower = Follower(self.layout.bootstrap, self._take, lambda part: self.snapshot.next(part.partition))

    @property
    def _parts(self) -> list[TopicPartition]:
        topic = self.layout.memory
        return [TopicPartition(topic, number) for number in range(self.layout.partitions[topic])]

    async def refresh(self) -> None:
        """Read every partition to where it ends now: the ends are fixed before the first record.

        Raises:
            Unavailable: if the broker does not answer.
        """
        await self._follower.catch_up(self._parts)

    async def _take(self, _topic: str, partition: int, records: Sequence[Record]) -> None:
        if records:
            fetched = (Fetched(one.key or b"", one.value) for one in records)
            self.snapshot.take(partition, fetched, records[-1].offset + 1)

    async def close(self) -> None:
        """Let go of file and connection."""
        await self._follower.close()
        self.snapshot.close()


def _touched(path: Path) -> float:
    files = [path, path.with_name(f"{path.name}-wal")]
    return max(one.stat().st_mtime for one in files if one.exists())


def remove(path: Path) -> None:
    """Remove a snapshot's files."""
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink(missing_ok=True)
