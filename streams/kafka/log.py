"""Plain reads of a partition, from one offset to another, without a group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from stages.contract import Unavailable
from streams.kafka.wire import Record, as_record

_WAIT_MS = 300
"""A fetch that brings nothing for so long is asked again; what reads to an end knows where that is."""

_STUCK_S = 60.0
"""Seconds without progress after which a read gives up: the partition has no leader, or the broker is gone."""

_AT_ONCE = 4
"""Reads at once: a worker that is given 24 partitions would else open 24 consumers, and be slower for it."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a partition begins and ends, as a reader of committed records sees it."""

    start: int
    stop: int


class Log:
    """Reads partitions of one cluster. Records of transactions that were not committed are never seen."""

    def __init__(self, bootstrap: str, client_id: str = "anabranch") -> None:
        self.bootstrap = bootstrap
        self._client_id = client_id
        self._reading = asyncio.Semaphore(_AT_ONCE)

    async def span(self, topic: str, partition: int) -> Span:
        """Return where a partition begins and ends now.

        Raises:
            Unavailable: if the broker does not answer.
        """
        async with self._reader() as reader:
            return await _span(reader, TopicPartition(topic, partition))

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the offset that a consumer group has committed, or ``None``."""
        async with self._reader(group) as reader:
            offset: int | None = await reader.committed(TopicPartition(topic, partition))
            return offset

    async def read(
        self, topic: str, partition: int, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[Record, None]:
        """Give the records from ``start`` (included) to ``stop`` (not included; ``None``: where it ends now).

        Offsets that hold no record (a transaction's marks, what retention or compaction removed) are passed over.

        Raises:
            Unavailable: if the broker does not answer, or nothing more came for a minute.
        """
        at = TopicPartition(topic, partition)
        async with self._reader() as reader:
            reader.assign([at])
            span = await _span(reader, at)
            stop = span.stop if stop is None else stop
            reader.seek(at, max(start, span.start))
            async for record in _until(reader, at, stop):
                yield record

    async def snapshot(self, topic: str, partitions: int) -> AsyncGenerator[Record, None]:
        """Give every record of all partitions, each up to where it ends now: the ends are fixed before the first.

        Raises:
            Unavailable: if the broker does not answer, or nothing more came for a minute.
        """
        async with self._reader() as reader:
            all_of_it = [TopicPartition(topic, number) for number in range(partitions)]
            reader.assign(all_of_it)
            starts, stops = await reader.beginning_offsets(all_of_it), await reader.end_offsets(all_of_it)
            left = {at: stops[at] for at in all_of_it if starts[at] < stops[at]}
            for at in all_of_it:
                if at in left:
                    reader.seek(at, starts[at])
                else:
                    reader.pause(at)
            async for record in _all_until(reader, left):
                yield record

    @asynccontextmanager
    async def _reader(self, group: str | None = None) -> AsyncIterator[AIOKafkaConsumer]:
        reader = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            client_id=self._client_id,
            group_id=group,
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=16 * 1024 * 1024,
        )
        async with self._reading:
            try:
                await reader.start()
                yield reader
            except KafkaError as error:
                msg = f"Kafka at {self.bootstrap} does not answer: {error!r}"
                raise Unavailable(msg) from error
            finally:
                await reader.stop()


async def _all_until(reader: AIOKafkaConsumer, left: dict[TopicPartition, int]) -> AsyncGenerator[Record, None]:
    """Give what is left of several partitions; each is put aside when its end is reached."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    while left:
        fetched = await reader.getmany(timeout_ms=_WAIT_MS)
        for at, records in fetched.items():
            for record in records:
                if at in left and record.offset < left[at]:
                    yield as_record(record.partition, record.offset, record.key, record.value, record.headers)
        for at in [at for at in left if await reader.position(at) >= left[at]]:
            del left[at]
            reader.pause(at)
            since = loop.time()
        if fetched:
            since = loop.time()
        elif loop.time() - since > _STUCK_S:
            msg = f"{sorted(left)} gave nothing for {_STUCK_S:.0f} s"
            raise Unavailable(msg)


async def _span(reader: AIOKafkaConsumer, at: TopicPartition) -> Span:
    starts, stops = await reader.beginning_offsets([at]), await reader.end_offsets([at])
    return Span(starts[at], stops[at])


async def _until(reader: AIOKafkaConsumer, at: TopicPartition, stop: int) -> AsyncIterator[Record]:
    loop = asyncio.get_running_loop()
    reached, since = -1, loop.time()
    while (position := await reader.position(at)) < stop:
        if position > reached:
            reached, since = position, loop.time()
        elif loop.time() - since > _STUCK_S:
            msg = f"{at.topic} {at.partition} gave nothing between {position} and {stop} for {_STUCK_S:.0f} s"
            raise Unavailable(msg)
        for record in (await reader.getmany(at, timeout_ms=_WAIT_MS)).get(at, ()):
            if record.offset >= stop:
                return
            headers, when = record.headers, record.timestamp
            yield as_record(record.partition, record.offset, record.key, record.value, headers, at=when)
