"""All partitions of a worker, from their assignment to their revocation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from streams.kafka.partition import Partition
from streams.kafka.shared import Shared
from streams.kafka.wire import Record

SAVE_S: Final = 0.3
"""Seconds between partition rows: what is repeated after a death, at most."""


@dataclass
class Worker:
    """Runs one stage over the partitions that the group gives it."""

    shared: Shared
    partitions: dict[int, Partition] = field(default_factory=dict)
    _saving: asyncio.Task[None] | None = None

    def assigned(self, numbers: Iterable[int]) -> None:
        """Begin partitions that are ours now."""
        if self._saving is None:
            self._saving = asyncio.create_task(self._save_for_ever())
        for number in sorted(set(numbers) - self.partitions.keys()):
            partition = Partition(number, self.shared)
            self.partitions[number] = partition
            partition.open()

    async def revoked(self, numbers: Iterable[int]) -> None:
        """End partitions that are ours no more; what they had not finished is another worker's."""
        self.shared.metrics.rebalances += 1
        ending = [self.partitions.pop(number) for number in sorted(set(numbers) & self.partitions.keys())]
        await asyncio.gather(*(partition.close() for partition in ending))

    async def offer(self, records: Sequence[Record]) -> None:
        """Take what Faust has fetched, in order; waits while too much is waiting already."""
        for record in records:
            partition = self.partitions.get(record.partition)
            if partition is None:  # revoked while the batch was on its way: its next owner reads it
                self.shared.metrics.blocked += 1
                continue
            if not partition.begun.is_set():
                await partition.begun.wait()
            partition.offer(record)
        await self.shared.room.wait()

    async def close(self) -> None:
        """End all partitions."""
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        await self.revoked(list(self.partitions))

    async def _save_for_ever(self) -> None:
        try:
            while True:
                await asyncio.sleep(SAVE_S)
                await asyncio.gather(*(partition.save() for partition in list(self.partitions.values())))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the process decides what its end is
            self.shared.fail(error)
