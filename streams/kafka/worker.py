"""All partitions of a worker, from their assignment to their revocation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from stages.contract import Unavailable
from streams.kafka.partition import Partition
from streams.kafka.shared import Shared
from streams.kafka.tending import Tending
from streams.kafka.upkeep import Upkeep
from streams.kafka.wire import PAUSE, QUARANTINE, Record, read_pause

SAVE_S: Final = 1.0
"""Seconds between partition rows: what is read again after a death, at most; states tell what of it is done."""

_LOOK_S: Final = 1.0
"""Seconds between two looks at what partitions need, at most."""

FLAGS: Final = 0
"""The partition of the state topic that every worker follows for what operators say of the whole stage."""

_log = logging.getLogger(__name__)


@dataclass
class Worker:
    """Runs one stage over the partitions that the group gives it."""

    shared: Shared
    partitions: dict[int, Partition] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._tending = Tending(self.shared)
        self._upkeep = Upkeep(self.shared, lambda: asyncio.get_running_loop().time())
        self._quarantined: set[int] = set()

    def assigned(self, numbers: Iterable[int]) -> None:
        """Begin partitions that are ours now."""
        if not self._tasks:
            look = min(_LOOK_S, self.shared.reopen / 4)
            self._tasks = [
                asyncio.create_task(self._for_ever(SAVE_S, self._save)),
                asyncio.create_task(self._for_ever(look, self._tend)),
                asyncio.create_task(self._for_ever(_LOOK_S, self._keep)),
            ]
        for number in sorted(set(numbers) - self.partitions.keys()):
            self._begin(Partition(number, self.shared))

    def _begin(self, partition: Partition) -> None:
        self.partitions[partition.number] = partition
        partition.open()

    async def revoked(self, numbers: Iterable[int]) -> None:
        """End partitions that are ours no more; what they had not finished is another worker's."""
        self.shared.metrics.rebalances += 1
        async with self._turn:
            ending = [self.partitions.pop(number) for number in sorted(set(numbers) & self.partitions.keys())]
            for partition in ending:
                self._tending.forget(partition.number)
                self._upkeep.forget(partition.number)
            await asyncio.gather(*(partition.close() for partition in ending))

    async def reopen(self, number: int) -> None:
        """Try a partition that stopped once more: what operators have written since is read, and its input again."""
        async with self._turn:
            old = self.partitions.get(number)
            if old is None or old.stopped is None:
                return
            self.shared.metrics.reopened += 1
            told = {"event": "partition reopened", "partition": number}
            _log.warning("%s tries partition %d again", self.shared.node.name, number, extra=told)
            await old.close()
            self._begin(Partition(number, self.shared, seen=old.intake.seen))

    async def offer(self, records: Sequence[Record]) -> None:
        """Take what Faust has fetched, in order; waits while too much is waiting already."""
        for record in records:
            partition = self.partitions.get(record.partition)
            if partition is not None and not partition.begun.is_set():
                await partition.begun.wait()
                partition = self.partitions.get(record.partition)
            if partition is None:  # revoked while the batch was on its way: its next owner reads it
                self.shared.metrics.blocked += 1
                continue
            partition.offer(record)
        await self.shared.room.wait()

    async def close(self) -> None:
        """End all partitions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.revoked(list(self.partitions))

    # what operators write

    def followed(self) -> Mapping[int, int | None]:
        """Return the partitions of the state topic to follow, each from which offset on (``None``: its end)."""
        stopped = {number: one.states.end for number, one in self.partitions.items() if one.stopped is not None}
        return {FLAGS: None} | stopped

    def heard(self, record: Record) -> None:
        """Take a row of the state topic that somebody wrote; those of our own states say nothing here."""
        key = record.key or b""
        if key == PAUSE and record.value is not None and self.shared.pause.take(read_pause(record.value)):
            paused = self.shared.pause.paused
            words = ("paused", "takes nothing more") if paused else ("resumed", "goes on")
            _log.warning("%s %s", self.shared.node.name, words[1], extra={"event": words[0]})
        elif key.startswith(QUARANTINE) and record.value is not None:
            self._quarantined.add(record.partition)

    # what is done all the time

    async def _for_ever(self, pause: float, work: Callable[[], Awaitable[None]]) -> None:
        try:
            while True:
                await asyncio.sleep(pause)
                await work()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the process decides what its end is
            self.shared.fail(error)

    async def _save(self) -> None:
        try:
            await asyncio.gather(*(partition.save() for partition in list(self.partitions.values())))
        except Unavailable as reason:  # it is only saved work: the next time says the same and more
            _log.warning("%s cannot say how far it is: %s", self.shared.node.name, reason, extra={"event": "waits"})

    async def _keep(self) -> None:
        for partition in list(self.partitions.values()):
            if not partition.ready or partition.stopped is not None:
                continue
            try:
                await self._upkeep.keep(partition)
            except Unavailable as reason:  # it is tried again in a second
                _log.warning("%s cannot keep its topics: %s", self.shared.node.name, reason, extra={"event": "waits"})

    async def _tend(self) -> None:
        now, given_up = asyncio.get_running_loop().time(), self._quarantined.copy()
        self._quarantined.clear()
        for number, partition in list(self.partitions.items()):
            if partition.stopped is None:
                self._tending.catch_up(partition, now)
            elif self._tending.is_due(partition, now) or number in given_up:
                await self.reopen(number)
