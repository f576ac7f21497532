"""Following partitions: what was read stays read, and a question reads only what has come since the one before.

The first question reads a partition from its beginning, which takes a second for some 50 MB; every later one asks where
its partitions end (one round trip, a millisecond or two) and fetches what is new, mostly nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from infra.errors import MissingError
from stages.contract import Unavailable
from streams.kafka.wire import Record, as_record

_WAIT_MS: Final = 100
"""A fetch that brings nothing for so long is asked again."""
_HELD_MS: Final = 10
"""How long the broker holds back a fetch that finds nothing. A connection's requests are answered in turn, so that a
question right behind one would wait as long (half a second by default: measured)."""
_STUCK_S: Final = 30.0
"""Seconds in which nothing comes though there is more: the partition has no leader, or the broker is gone."""
_LARGEST: Final = 16 * 1024 * 1024

Deliver = Callable[[str, int, Sequence[Record]], Awaitable[None]]
"""Is given records as they come, with the topic and the partition."""


def consumer(bootstrap: str) -> AIOKafkaConsumer:
    """Return a consumer that belongs to no group; its partitions are assigned, and it sees committed records only."""
    return AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        client_id="anabranch-reads",
        group_id=None,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=_LARGEST,
        fetch_max_wait_ms=_HELD_MS,
    )


async def _drop(_topic: str, _partition: int, _records: Sequence[Record]) -> None:
    """Deliver to nobody."""


@dataclass
class Follower:
    """Reads any number of partitions with one consumer, each to its end as it is when it is asked for.

    ``start`` says from which offset on a partition is read (one that is gone: from its beginning).
    """

    bootstrap: str
    deliver: Deliver = _drop
    start: Callable[[TopicPartition], int] = lambda _part: 0
    _at: dict[TopicPartition, int] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _consumer: AIOKafkaConsumer | None = None

    async def close(self) -> None:
        """Let go of the connection."""
        if self._consumer is not None:
            await self._consumer.stop()

    async def ends(self, parts: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where partitions end now.

        Raises:
            Unavailable: if the broker does not answer.
        """
        async with self._lock:
            found: dict[TopicPartition, int] = await self._told(self._ends(list(parts)))
            return found

    async def catch_up(self, parts: Iterable[TopicPartition]) -> None:
        """Deliver what the partitions hold that was not delivered yet, up to where they end now.

        Raises:
            Unavailable: if the broker does not answer, or nothing comes for half a minute.
        """
        async with self._lock:
            await self._told(self._catch_up(list(parts)))

    async def _told(self, work: Any) -> Any:  # noqa: ANN401 - any coroutine, and what it gives
        try:
            return await work
        except KafkaError as error:
            msg = f"Kafka at {self.bootstrap} does not answer: {error!r}"
            raise Unavailable(msg) from error

    async def _connected(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            fresh = consumer(self.bootstrap)
            try:
                await fresh.start()
            except KafkaError as error:
                await fresh.stop()
                msg = f"no Kafka answers at {self.bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
                raise MissingError(msg) from error
            self._consumer = fresh
        return self._consumer

    async def _ends(self, parts: list[TopicPartition]) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = await (await self._connected()).end_offsets(parts)
        return found

    async def _catch_up(self, parts: list[TopicPartition]) -> None:
        reader = await self._connected()
        await self._add(reader, [part for part in parts if part not in self._at])
        ends, loop = await self._ends(parts), asyncio.get_running_loop()
        since = loop.time()
        reader.resume(*(part for part in parts if self._at[part] < ends[part]))
        while behind := [part for part in parts if self._at[part] < ends[part]]:
            await self._fetch(reader, behind)
            reader.pause(*(part for part in behind if self._at[part] >= ends[part]))
            if any(self._at[part] >= ends[part] for part in behind):
                since = loop.time()
            elif loop.time() - since > _STUCK_S:
                msg = f"{behind[0].topic} {behind[0].partition} does not come to {ends[behind[0]]}"
                raise Unavailable(msg)

    async def _fetch(self, reader: AIOKafkaConsumer, behind: list[TopicPartition]) -> None:
        for part, fetched in (await reader.getmany(*behind, timeout_ms=_WAIT_MS)).items():
            records = [as_record(one.partition, one.offset, one.key, one.value, one.headers) for one in fetched]
            await self.deliver(part.topic, part.partition, records)
        for part in behind:
            self._at[part] = await reader.position(part)

    async def _add(self, reader: AIOKafkaConsumer, fresh: list[TopicPartition]) -> None:
        if not fresh:
            return
        begins = await reader.beginning_offsets(fresh)
        self._at |= {part: max(begin, self.start(part)) for part, begin in begins.items()}
        reader.assign(list(self._at))  # takes the place of the assignment before, positions included
        for part, at in self._at.items():
            reader.seek(part, at)
        reader.pause(*self._at)  # nothing is fetched between questions
