"""Follows the rows that operators write while a worker runs.

Rows that name a partition lie in that partition of the state topic; those of the whole stage in each of its
partitions. Whoever begins a partition has read them then. For what comes later a worker follows partition 0 (a
twenty-fourth of what the stage writes), and every partition that is stopped: nothing else is written there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.kafka.wire import Record, as_record

_LOOK_MS: Final = 500
"""How soon a partition that has stopped is followed, at the latest."""
_AGAIN_S: Final = 2.0
"""Between two tries where the broker does not answer."""

_log = logging.getLogger(__name__)


@dataclass
class Watch:
    """Follows partitions of ``topic``: ``wanted`` gives each with the offset to begin at (``None``: its end).

    Once it is ``ready`` nothing is missed: who reads a partition from its beginning waits for that.
    """

    bootstrap: str
    topic: str
    wanted: Callable[[], Mapping[int, int | None]]
    heard: Callable[[Record], None]
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    _reached: dict[int, int] = field(default_factory=dict)

    async def run(self) -> None:
        """Follow them for ever; a broker that does not answer is asked again."""
        while True:
            try:
                async with self._reader() as reader:
                    await self._follow(reader)
            except KafkaError as error:
                _log.warning("%s cannot be followed: %r", self.topic, error)
            await asyncio.sleep(_AGAIN_S)

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[AIOKafkaConsumer]:
        reader = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, enable_auto_commit=False, isolation_level="read_committed"
        )
        try:
            await reader.start()
            yield reader
        finally:
            await reader.stop()

    async def _follow(self, reader: AIOKafkaConsumer) -> None:
        while True:
            await self._assign(reader)
            for at, records in (await reader.getmany(timeout_ms=_LOOK_MS)).items():
                for record in records:
                    self._reached[at.partition] = record.offset + 1
                    self.heard(as_record(at.partition, record.offset, record.key, record.value, ()))

    async def _assign(self, reader: AIOKafkaConsumer) -> None:
        wanted = self.wanted()
        before = {at.partition for at in reader.assignment()}
        if before == wanted.keys():
            return
        for number in self._reached.keys() - wanted.keys():
            del self._reached[number]
        places = {number: TopicPartition(self.topic, number) for number in wanted}
        reader.assign(list(places.values()))
        for number, start in wanted.items():
            await self._seek(reader, places[number], self._reached.get(number, start))
        self.ready.set()

    async def _seek(self, reader: AIOKafkaConsumer, at: TopicPartition, start: int | None) -> None:
        if start is None:
            start = (await reader.end_offsets([at]))[at]
        self._reached[at.partition] = start
        reader.seek(at, start)
