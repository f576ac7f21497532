"""Answers of models on a real broker: the contract, and what befalls a topic and a worker's copy of it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.kafka import Broker, Cluster
from infra.kafka.topics import WantedTopic
from infra.workers.producer import producing
from infra.workers.results import topic_results
from stages.contract import Unavailable
from streams.kafka.log import Log
from streams.kafka.results import TopicResults
from streams.results import Results
from tests.fakes.results_suite import ACME, BOLT, Opened, ResultsContract, result
from tests.kafka.conftest import Named


@dataclass
class Cabinet:
    """A topic of its own for answers, and a folder for each worker."""

    servers: str
    folder: Path
    topic: str = field(default_factory=lambda: f"results-{uuid.uuid4().hex[:8]}")
    workers: int = 0

    def make(self) -> None:
        with Cluster.at(self.servers) as cluster:
            cluster.apply([WantedTopic(self.topic, 2, 1, {})])

    def remove(self) -> None:
        with Cluster.at(self.servers) as cluster:
            cluster.remove([self.topic], [])

    @asynccontextmanager
    async def opened(self, number: int | None = None) -> AsyncIterator[Results]:
        """Open it as a worker: a new one, or ``number`` once more."""
        self.workers += number is None
        mine = self.folder / f"worker-{self.workers if number is None else number}"
        mine.mkdir(exist_ok=True)
        results = topic_results(self.servers)
        results.topic = self.topic
        async with producing(self.servers, "results", [self.topic]) as sending, results.opened(sending, mine):
            yield results

    async def size(self, partition: int) -> int:
        span = await Log(self.servers).span(self.topic, partition)
        return span.stop


@pytest.fixture
def cabinet(broker: Broker | Named, tmp_path: Path) -> Iterator[Cabinet]:
    one = Cabinet(broker.bootstrap, tmp_path)
    one.make()
    yield one
    one.remove()


class TestTopicResults(ResultsContract):
    @pytest.fixture
    def opened(self, cabinet: Cabinet) -> Opened:
        return cabinet.opened


async def test_a_worker_that_starts_again_reads_on(cabinet: Cabinet) -> None:
    async with cabinet.opened(1) as results:
        await results.keep(ACME, "k1", result("one"))
    async with cabinet.opened(2) as results:
        await results.keep(ACME, "k2", result("two"))
    async with cabinet.opened(1) as results:
        assert await results.get(ACME, "k1") == result("one")
        assert await results.get(ACME, "k2") == result("two")


async def test_a_copy_of_another_topic_is_thrown_away(cabinet: Cabinet) -> None:
    async with cabinet.opened(1) as results:
        for n in range(4):
            await results.keep(ACME, f"k{n}", result("old"))
    cabinet.remove()
    cabinet.make()
    async with cabinet.opened(2) as results:
        await results.keep(ACME, "k3", result("new"))
    async with cabinet.opened(1) as results:  # shorter than the copy
        assert await results.get(ACME, "k9") is None
        assert await results.keep(ACME, "k3", result("again")) == result("new")


async def test_a_longer_topic_in_its_place_is_noticed(cabinet: Cabinet) -> None:
    async with cabinet.opened(1) as results:
        await results.keep(ACME, "k0", result("old"))
    cabinet.remove()
    cabinet.make()
    async with cabinet.opened(2) as results:
        for n in range(3):
            await results.keep(ACME, f"k{n}", result("new"))
    async with cabinet.opened(1) as results:
        assert await results.get(ACME, "k2") == result("new")
        assert await results.get(ACME, "k0") == result("new")


async def test_a_damaged_copy_is_read_afresh(cabinet: Cabinet) -> None:
    async with cabinet.opened(1) as results:
        await results.keep(ACME, "k", result("one"))
        await results.keep(BOLT, "k", result("two"))
    for file in cabinet.folder.glob("worker-1/*.sqlite"):
        file.write_bytes(b"no database at all" * 100)
    async with cabinet.opened(1) as results:
        assert await results.get(ACME, "k") == result("one")
        assert await results.get(BOLT, "k") == result("two")


async def test_a_copy_that_cannot_be_written_is_waited_for(cabinet: Cabinet) -> None:
    """And nothing that was fetched meanwhile is passed over."""
    async with cabinet.opened(1) as results, cabinet.opened(2) as other:
        assert isinstance(results, TopicResults)
        await results.keep(ACME, "k1", result("one"))
        await other.keep(ACME, "k2", result("two"))
        (copy,) = results._copies.values()
        copy._db.execute("PRAGMA query_only=ON")
        with pytest.raises(Unavailable, match="cannot be read or written"):
            await results.get(ACME, "k2")
        copy._db.execute("PRAGMA query_only=OFF")
        assert await results.get(ACME, "k2") == result("two")


async def test_an_answer_that_is_there_is_not_written_again(cabinet: Cabinet) -> None:
    async with cabinet.opened() as results:
        await results.keep(ACME, "k", result())
        before = [await cabinet.size(partition) for partition in (0, 1)]
        for _ in range(3):
            await results.get(ACME, "k")
        assert [await cabinet.size(partition) for partition in (0, 1)] == before
        assert sum(before) == 1
