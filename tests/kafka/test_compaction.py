"""Compaction on a real broker: heartbeats let a quiet partition be compacted, and nothing that counts is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from infra.kafka import Broker
from infra.models import HashEmbedder
from infra.reindex.following import FollowedMemory
from infra.remote.layout import Layout
from infra.remote.reads import Reads
from schemas.committed import Committed
from schemas.memory import Row
from schemas.space import Space
from streams.kafka import upkeep
from streams.kafka.log import Log
from streams.kafka.wire import HEARTBEAT, Record, heartbeat, memory_row, partition_of
from streams.snapshot import Fetched, Snapshot
from tests.fakes.committing import Recorded
from tests.fakes.real_home import RealHome, story
from tests.kafka.stage_on_kafka import PARTITIONS, Stage, stage_of
from tests.kafka.waiting import until

QUIET, TENDED, EMPTY = range(PARTITIONS)
"""Partitions of ``memory``: nobody writes to the first, heartbeats of the test go to the second, the third is empty."""

EAGER = {"segment.ms": "200", "max.compaction.lag.ms": "100", "delete.retention.ms": "300"}
"""The settings of ``memory`` for a test's seconds in place of days; what they say is the same."""

GONE = 3


def space_in(partition: int) -> Space:
    return next(name for n in count() if partition_of(name := Space(f"compact/u-{n}"), PARTITIONS) == partition)


SPACES = {partition: space_in(partition) for partition in (QUIET, TENDED)}


def configured(admin: KafkaAdminClient, kind: ConfigResourceType, name: str, values: Mapping[str, str]) -> None:
    admin.alter_configs([ConfigResource(kind, name, dict(values))], incremental=True)


@pytest.fixture
def admin(lone: Broker) -> Iterator[KafkaAdminClient]:
    """Let the cleaner look every 50 ms; it looks every 15 s."""
    with KafkaAdminClient(bootstrap_servers=lone.bootstrap) as one:
        configured(one, ConfigResourceType.BROKER, "1", {"log.cleaner.backoff.ms": "50"})
        yield one


@dataclass
class Memory:
    """A topic ``memory`` of a generation of its own, with the rows of two spaces in it."""

    stage: Stage
    rows: Mapping[int, Sequence[Row]]

    @property
    def topic(self) -> str:
        return self.stage.target

    @property
    def layout(self) -> Layout:
        return Layout(self.stage.bootstrap, {self.topic: PARTITIONS}, self.stage.generation)

    async def read(self, partition: int) -> list[Record]:
        return [record async for record in Log(self.stage.bootstrap).read(self.topic, partition)]

    async def told(self, partition: int, folder: Path) -> list[str]:
        """Return what a snapshot holds that is taken now, event by event."""
        snapshot = Snapshot(folder / f"{partition}.sqlite")
        records = await self.read(partition)
        snapshot.take(partition, [Fetched(one.key or b"", one.value) for one in records], records[-1].offset + 1)
        return held(snapshot, SPACES[partition])


def held(snapshot: Snapshot, space: Space) -> list[str]:
    found = [event.model_dump_json() for event in snapshot.rows.events(space, -1, 10**6)]
    snapshot.close()
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Committed]]:
    """What commit writes of two spaces, in its order."""
    return {
        partition: asyncio.run(_lived(tmp_path_factory.mktemp("told"), space)) for partition, space in SPACES.items()
    }


async def _lived(folder: Path, space: Space) -> list[Committed]:
    index = Recorded(HashEmbedder().dimension)
    await RealHome(folder, index).tell(story(10, space), space)
    return index.events


@pytest.fixture
async def memory(lone: Broker, admin: KafkaAdminClient, told: dict[int, list[Committed]], tmp_path: Path) -> Memory:
    """Rows as commit wrote them, written once more as after a death, and some taken away as ``forget`` will do."""
    stage = stage_of(lone.bootstrap, tmp_path, "commit")
    one = Memory(
        stage, {partition: [row for event in events for row in event.rows] for partition, events in told.items()}
    )
    configured(admin, ConfigResourceType.TOPIC, one.topic, EAGER)
    async with stage.producer() as producer:
        for partition, rows in one.rows.items():
            lies = [memory_row(row, one.topic, partition) for row in rows]
            for record in (*lies, *lies):
                await producer.send(one.topic, record.value, key=record.key, partition=partition)
            for record in lies[:GONE]:
                await producer.send(one.topic, None, key=record.key, partition=partition)
    return one


async def test_a_partition_is_compacted_because_of_heartbeats_and_what_it_says_stays(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {partition: await memory.read(partition) for partition in SPACES}
    (before := tmp_path / "before").mkdir()
    (after := tmp_path / "after").mkdir()
    said = {partition: await memory.told(partition, before) for partition in SPACES}
    keys = {partition: {row.key for row in rows} for partition, rows in written.items()}
    assert all(len(written[partition]) == 2 * len(keys[partition]) + GONE for partition in SPACES)

    await until(lambda: _compacted(memory, TENDED, len(keys[TENDED]) - GONE, beat=True))
    assert await memory.read(QUIET) == written[QUIET], "nobody wrote there: its only segment is still open"

    monkeypatch.setattr(upkeep, "BEAT_S", 0.3)
    async with memory.stage.works() as run:
        await until(lambda: _compacted(memory, QUIET, len(keys[QUIET]) - GONE))
        log = run.worker.shared.log
        assert (await log.span(memory.topic, EMPTY)).stop == 0, "nothing lies there that could be compacted"
        states = [(row.partition, row.key == HEARTBEAT) for row in await memory.stage.rows()]
        assert {number for number, beats in states if beats} <= {number for number, beats in states if not beats}

    for partition, space in SPACES.items():
        assert await memory.told(partition, after) == said[partition]
        rows = await Reads(memory.layout, Log(memory.stage.bootstrap)).rows(space)
        found = {memory_row(row, memory.topic, partition).key for row in rows}
        assert found == keys[partition] - _gone(memory, partition)


def _gone(memory: Memory, partition: int) -> set[bytes]:
    return {memory_row(row, memory.topic, partition).key for row in memory.rows[partition][:GONE]}


async def _compacted(memory: Memory, partition: int, keys: int, *, beat: bool = False) -> bool:
    """Whether each key is there once and every tombstone is gone; ``beat`` writes a heartbeat first."""
    if beat:
        async with memory.stage.producer() as producer:
            record = heartbeat(memory.topic, partition)
            await producer.send(record.topic, record.value, key=record.key, partition=partition)
    rows = [one for one in await memory.read(partition) if one.key != HEARTBEAT]
    return len(rows) == len({one.key for one in rows}) == keys and all(one.value is not None for one in rows)


async def test_a_follower_that_reads_on_over_a_compaction_holds_the_same(memory: Memory, tmp_path: Path) -> None:
    """It was at the end before, so that it has the tombstones; what lies behind has gaps."""
    followed = FollowedMemory(memory.layout, tmp_path / "followed.sqlite")
    await followed.refresh()
    keys = {record.key for record in await memory.read(TENDED)}
    await until(lambda: _compacted(memory, TENDED, len(keys) - GONE, beat=True))
    await followed.refresh()
    (fresh := tmp_path / "fresh").mkdir()
    expected = await memory.told(TENDED, fresh)
    space = SPACES[TENDED]
    found = [event.model_dump_json() for event in followed.snapshot.rows.events(space, -1, 10**6)]
    await followed.close()
    assert json.dumps(found) == json.dumps(expected)
