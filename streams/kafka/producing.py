"""The producer of the engine: idempotent, all acknowledged, and another one where the broker refused a record."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError, RequestTimedOutError

from stages.contract import Unavailable
from streams.kafka.pace import Pace, departures
from streams.kafka.wire import Sent, partition_of
from streams.stopped import Stopped


class RefusedWrite(Stopped):
    """The broker or the index refuses what a partition has to write; the partition stops there."""


@dataclass(eq=False)
class _Lent:
    """A producer while senders use it: one that is stopped under a sender may leave it waiting for ever."""

    producer: AIOKafkaProducer
    _senders: int = 0
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, records: Sequence[Sent]) -> None:
        self._senders += 1
        self._idle.clear()
        try:
            await _send(self.producer, records)
        finally:
            self._senders -= 1
            if not self._senders:
                self._idle.set()

    async def stop(self) -> None:
        """Stop it when the last sender has ended."""
        if self._senders:
            await self._idle.wait()
        await self.producer.stop()


@dataclass
class Producing:
    """Sends records by a producer that ``begin`` gives, in order and acknowledged.

    What the broker refuses leaves a gap in the producer's numbering of that partition, and all that follows there is
    refused too, whosever it is: so nothing overtakes it. Those that come later get another producer; whoever was
    refused sends once more alone. ``partitions`` says how many each topic has, ``written`` when each partition of a
    topic was last written to (the loop's time, s).
    """

    begin: Callable[[], Awaitable[AIOKafkaProducer]]
    partitions: Mapping[str, int]
    written: dict[tuple[str, int], float] = field(default_factory=dict)
    _lent: _Lent | None = None
    _pace: Pace = field(default_factory=departures)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ending: set[asyncio.Task[None]] = field(default_factory=set)

    def partition(self, topic: str, space: str) -> int:
        """Return the partition of a space in a topic."""
        return partition_of(space, self.partitions[topic])

    async def send(self, records: Iterable[Sent]) -> None:
        """Produce, and return when all are acknowledged.

        Raises:
            Unavailable: if the broker does not answer.
            RefusedWrite: if it refuses one; the message names its topic and key.
        """
        wanted = list(records)
        loop = asyncio.get_running_loop()
        await self._pace.wait()
        lent, begun = await self._current(), loop.time()
        try:
            await lent.send(wanted)
            self._pace.took(loop.time() - begun)
        except RefusedWrite:
            if lent is self._lent:
                self._lent = None
                self._retire(lent)
            await self._alone(wanted)
        self.written.update(dict.fromkeys(((record.topic, record.partition) for record in wanted), loop.time()))

    async def count(self, topic: str) -> int:
        """Return how many partitions a topic has.

        Raises:
            Unavailable: if the broker does not answer.
            KafkaError: if the topic is not there.
        """
        return len(await (await self._current()).producer.partitions_for(topic))

    async def _current(self) -> _Lent:
        if self._lent is None:
            async with self._turn:
                if self._lent is None:
                    self._lent = _Lent(await self.begin())
        return self._lent

    async def _alone(self, wanted: Sequence[Sent]) -> None:
        """Send once more by a producer that nobody else has: what was refused may have been another's, in one batch."""
        async with self._turn:
            one = _Lent(await self.begin())
            try:
                await one.send(wanted)
            finally:
                self._retire(one)

    def _retire(self, lent: _Lent) -> None:
        ending = asyncio.create_task(lent.stop())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Stop what was begun, when the last sender has ended."""
        if self._lent is not None:
            self._retire(self._lent)
            self._lent = None
        await asyncio.gather(*self._ending, return_exceptions=True)


async def _send(producer: AIOKafkaProducer, records: Sequence[Sent]) -> None:
    """Send in order and wait for every acknowledgement, those behind a refused record too."""
    waiting = [await _queued(producer, record) for record in records]
    for record, answer in zip(records, await asyncio.gather(*waiting, return_exceptions=True), strict=True):
        if isinstance(answer, KafkaError):
            raise _failure(record, answer) from answer
        if isinstance(answer, BaseException):
            raise answer


async def _queued(producer: AIOKafkaProducer, record: Sent) -> asyncio.Future[object]:
    try:
        queued: asyncio.Future[object] = await producer.send(
            record.topic,
            record.value,
            key=record.key,
            partition=record.partition,
            headers=list(record.headers) or None,
        )
    except KafkaError as error:
        raise _failure(record, error) from error
    return queued


def _failure(record: Sent, error: KafkaError) -> Unavailable | RefusedWrite:
    where = f"a record of {len(record.value)} bytes for {record.key[:200].decode(errors='replace')!r} in {record.topic}"
    if error.retriable or isinstance(error, KafkaConnectionError | KafkaTimeoutError | RequestTimedOutError):
        return Unavailable(f"Kafka did not acknowledge {where}: {error!r}")
    return RefusedWrite(f"Kafka refused {where}: {error!r}; see the topic's limits")
