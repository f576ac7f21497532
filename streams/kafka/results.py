"""Answers of models on Kafka: produced by the engine's own producer, and read from a copy of the space's partition.

Who owns a space now need not be who asked for it before, and two may ask for a while. So before an answer counts as
lacking the partition is read to its end, and after one was produced it is read again: the first of a key stands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, Protocol

from aiokafka import TopicPartition

from schemas.model_result import ModelResult
from schemas.space import Space
from stages.contract import Unavailable
from streams.kafka.names import RESULTS
from streams.kafka.producing import Producing
from streams.kafka.result_copy import OtherTopic, ResultCopy
from streams.kafka.wire import Record, Sent
from streams.results import RESULT, read_result

_FRESH: Final = 3
"""Times that a topic may be found to be another one while it is read."""


class Reader(Protocol):
    """Reads partitions, each from where it was before to its end as it is when it is asked for."""

    async def ends(self, parts: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Return where partitions end now."""
        ...

    async def catch_up(self, parts: Iterable[TopicPartition]) -> None:
        """Deliver what has come."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


Deliver = Callable[[str, int, Sequence[Record]], Awaitable[None]]
Start = Callable[[TopicPartition], int]
MakeReader = Callable[[Deliver, Start], Reader]
"""Makes a reader from where its records go and from which offset on a partition is read."""


@dataclass
class TopicResults:
    """Implements ``Results`` on ``model.results``, inside ``opened``."""

    reading: MakeReader
    topic: str = RESULTS
    _producing: Producing | None = None
    _folder: Path = field(default_factory=Path)
    _reader: Reader | None = None
    _readers: int = 0
    _copies: dict[int, ResultCopy] = field(default_factory=dict)

    @asynccontextmanager
    async def opened(self, producing: Producing, folder: Path) -> AsyncIterator[None]:
        """Keep answers by a worker's producer, with copies in a folder that no other process uses."""
        self._producing, self._folder = producing, folder
        try:
            yield
        finally:
            await self._let_go()
            for copy in self._copies.values():
                copy.close()
            self._copies.clear()

    async def get(self, space: Space, key: str) -> ModelResult | None:
        """Return what is kept of a request, whoever kept it."""
        partition = self._partition(space)
        try:
            body = await self._found(partition, f"{space} {key}")
        except sqlite3.Error as error:
            await self._give_up(partition, error)
        return None if body is None else read_result(space, body)

    async def _found(self, partition: int, named: str) -> bytes | None:
        body = self._copy(partition).get(named)
        if body is None:
            await self._caught_up(partition)
            body = self._copy(partition).get(named)
        return body

    async def _give_up(self, partition: int, error: sqlite3.Error) -> NoReturn:
        """Let the stage wait and ask again; what was fetched is not in the copy, so it is fetched again too.

        Raises:
            Unavailable: always.
        """
        path = self._path(partition)
        msg = f"{path} cannot be read or written ({error}); see to its disk and its permissions"
        if not isinstance(error, sqlite3.OperationalError):  # the file itself, and the topic has all that it had
            msg = f"{path} is damaged ({error}): it is thrown away, and copied afresh from {self.topic}"
            if (copy := self._copies.pop(partition, None)) is not None:
                copy.throw_away()
        await self._let_go()
        raise Unavailable(msg) from error

    async def keep(self, space: Space, key: str, result: ModelResult) -> ModelResult:
        """Produce an answer and return the first one of its key."""
        sent = Sent(self.topic, self._partition(space), f"{space} {key}".encode(), RESULT.encode(result))
        await self._own().send([sent])
        stands = await self.get(space, key)
        if stands is None:
            msg = f"an answer for {space} was acknowledged and is not in {self.topic}: was the topic removed?"
            raise Unavailable(msg)
        return stands

    def _own(self) -> Producing:
        if self._producing is None:
            msg = "results are kept by a worker that runs"
            raise RuntimeError(msg)
        return self._producing

    def _partition(self, space: Space) -> int:
        return self._own().partition(self.topic, space)

    def _copy(self, partition: int) -> ResultCopy:
        if partition not in self._copies:
            self._copies[partition] = ResultCopy(self._path(partition))
        return self._copies[partition]

    def _path(self, partition: int) -> Path:
        return self._folder / f"{self.topic}-{partition}.sqlite"

    async def _caught_up(self, partition: int) -> None:
        part = TopicPartition(self.topic, partition)
        for _ in range(_FRESH):
            reader = self._reader or self.reading(self._taking(), self._start)
            self._reader = reader
            try:
                if self._copy(partition).next > (await reader.ends([part]))[part]:
                    self._refuse(partition)
                await reader.catch_up([part])
            except OtherTopic:
                await self._let_go()
            else:
                return
        msg = f"partition {partition} of {self.topic} is another each time that it is read"
        raise Unavailable(msg)

    def _refuse(self, partition: int) -> None:
        """Begin afresh: what was copied ends behind the end."""
        self._copy(partition).clear()
        msg = f"{self.topic} {partition} is shorter than its copy"
        raise OtherTopic(msg)

    async def _let_go(self) -> None:
        """Let go of the reader; other lanes may wait for it, and begin another one meanwhile."""
        reader, self._reader = self._reader, None
        self._readers += 1
        if reader is not None:
            await reader.close()

    def _taking(self) -> Deliver:
        """Return what takes the records of one reader: once it was let go, its next ones may leave a hole in a copy."""
        number = self._readers

        async def take(_topic: str, partition: int, records: Sequence[Record]) -> None:
            if number != self._readers:
                msg = f"what reads {self.topic} was let go"
                raise Unavailable(msg)
            self._copy(partition).take(records)

        return take

    def _start(self, part: TopicPartition) -> int:
        return self._copy(part.partition).start
