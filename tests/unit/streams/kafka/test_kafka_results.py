"""Answers on Kafka where the topic does not keep its word; tests/kafka has what befalls a real one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from aiokafka import TopicPartition

from stages.contract import Unavailable
from streams.kafka.producing import Producing
from streams.kafka.results import Deliver, Start, TopicResults
from streams.kafka.wire import Record, Sent
from tests.fakes.results_suite import ACME, result


@dataclass
class Topic:
    """One partition; what is sent to it is lost if it is ``deaf``, and it is another at each look if it ``changes``."""

    records: list[Record] = field(default_factory=list)
    deaf: bool = False
    changes: bool = False
    looks: int = 0

    def partition(self, _topic: str, _space: str) -> int:
        return 0

    async def send(self, records: Iterable[Sent]) -> None:
        for sent in records:
            if not self.deaf:
                self.records.append(Record(0, len(self.records), sent.key, sent.value, {}))

    def reader(self, deliver: Deliver, start: Start) -> Reader:
        return Reader(self, deliver, start)


@dataclass
class Reader:
    topic: Topic
    deliver: Deliver
    start: Start

    async def ends(self, parts: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        self.topic.looks += 1
        return {part: len(self.topic.records) for part in parts}

    async def catch_up(self, parts: Iterable[TopicPartition]) -> None:
        for part in parts:
            await self.deliver(part.topic, 0, self._read(self.start(part)))

    def _read(self, start: int) -> Sequence[Record]:
        if self.topic.changes:
            return [Record(0, 7, b"other", b"x%d" % self.topic.looks, {}), Record(0, 8, b"other", b"y", {})]
        return self.topic.records[start:]

    async def close(self) -> None: ...


def opened(topic: Topic, folder: Path) -> Any:
    results = TopicResults(topic.reader)
    return results, results.opened(cast("Producing", topic), folder)


async def test_an_answer_that_was_acknowledged_and_is_gone_is_waited_for(tmp_path: Path) -> None:
    results, opening = opened(Topic(deaf=True), tmp_path)
    async with opening:
        with pytest.raises(Unavailable, match=r"acme/u-1 was acknowledged and is not in model\.results"):
            await results.keep(ACME, "k", result())


async def test_a_topic_that_is_another_each_time_is_waited_for(tmp_path: Path) -> None:
    topic = Topic()
    results, opening = opened(topic, tmp_path)
    async with opening:
        await results.keep(ACME, "k", result())
    topic.records *= 9
    topic.changes = True
    again, opening = opened(topic, tmp_path)
    async with opening:
        copy = again._copy(0)
        copy.clear = lambda: None
        with pytest.raises(Unavailable, match="is another each time"):
            await again.get(ACME, "k2")


async def test_a_damaged_copy_is_thrown_away_and_read_afresh(tmp_path: Path) -> None:
    topic = Topic()
    results, opening = opened(topic, tmp_path)
    async with opening:
        for number in range(50):
            await results.keep(ACME, f"k{number}", result("x" * 2000))
        results._copy(0)._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        results._copy(0).close()
        del results._copies[0]
        path = results._path(0)
        with path.open("r+b") as file:
            size = file.seek(0, 2)
            file.seek(4096 * 4)  # behind the roots: it opens well
            file.write(b"\xff" * (size - 4096 * 4))
        with pytest.raises(Unavailable, match=r"is damaged .* copied afresh"):
            await results.get(ACME, "k20")
        for number in range(50):
            assert await results.get(ACME, f"k{number}") == result("x" * 2000)


async def test_a_copy_that_cannot_be_opened_is_waited_for(tmp_path: Path) -> None:
    results, opening = opened(Topic(), tmp_path / "nowhere")
    async with opening:
        with pytest.raises(Unavailable, match="see to its disk"):
            await results.get(ACME, "k")


async def test_a_reader_that_was_let_go_leaves_no_hole(tmp_path: Path) -> None:
    results, opening = opened(Topic(), tmp_path)
    async with opening:
        take = results._taking()
        await results._let_go()
        with pytest.raises(Unavailable, match="let go"):
            await take("model.results", 0, [Record(0, 7, b"acme/u-1 k", b"x", {})])
        assert results._copy(0).next == 0


async def test_nothing_is_kept_before_a_worker_runs() -> None:
    with pytest.raises(RuntimeError, match="a worker that runs"):
        await TopicResults(Topic().reader).get(ACME, "k")
