"""Five stages that do nothing, each a process of its own on a real broker: ends in mid-work, and the largest turn."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from infra.bench.kafka.alike import embedded, unlike
from infra.bench.kafka.follow import Follower
from infra.bench.kafka.load import Load, publish
from infra.bench.kafka.plant import Plant, plant
from infra.bench.kafka.serving import pages, serving
from infra.bench.kafka.shipped import PARTS, beside_shipped, parts_of
from infra.bench.kafka.shipped_names import STAGES, changelog_of, topic_of
from infra.bench.kafka.states import states_of
from infra.bench.kafka.verdict import by_space, judge
from infra.settings import Settings
from schemas.space import Space
from stages.contract import WINDOW
from streams.kafka.log import Log
from streams.kafka.wire import partition_of
from streams.topology import FLOW, TURNS
from tests.kafka.stage_on_kafka import PARTITIONS
from tests.kafka.waiting import until


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    with plant(tmp_path_factory.mktemp("plant"), qdrant=None, workers={}, partitions=PARTITIONS) as it:
        yield it


async def test_sigterm_while_lanes_wait_for_memory_changes_nothing(planted: Plant, tmp_path: Path) -> None:
    """Nobody commits, so the first stage holds every space a window ahead; then it is told to end."""
    load = Load(4 * WINDOW, 2)
    bootstrap = planted.broker.bootstrap
    await until(partial(all_serve, planted), 120)
    assert await asyncio.to_thread(planted.leave, "commit", 0) == 0
    follower = Follower(bootstrap, PARTITIONS, load.tenant)
    following = asyncio.create_task(follower.until(load.turns))
    await follower.ready.wait()
    await publish(bootstrap, 24, load)
    await until(partial(waits, planted, f"memory: {load.spaces} spaces are a window ahead of it"))
    begun = time.monotonic()
    assert await asyncio.to_thread(planted.leave, "normalize", 0) == 0
    assert time.monotonic() - begun < 20
    for stage in ("normalize", "commit"):
        planted.start(stage, 0)
    await following
    events = list(load.events())
    verdict = await judge(bootstrap, PARTITIONS, by_space(events))
    assert verdict.is_clean, str(verdict)
    alone = await embedded(Settings(home=tmp_path / "home", embedder="hash"), events, idle=True)
    assert unlike(verdict.memory, alone.memory) == 0
    last = {space: len(turn_ids) - 1 for space, turn_ids in by_space(events).items()}
    assert unlike(await states_of(bootstrap, PARTITIONS, last), alone.states) == 0
    assert {len(states) for states in alone.states.values()} == {len(FLOW)}


async def all_serve(it: Plant) -> bool:
    return len(await asyncio.to_thread(serving, it.broker.bootstrap, it.workers)) == len(it.workers)


async def waits(it: Plant, what: str) -> bool:
    found = await asyncio.to_thread(pages, it.broker.bootstrap, it.workers)
    return what in found["normalize", 0]["waits_for"]


async def test_the_longest_text_goes_through_every_stage(planted: Plant) -> None:
    """Each edge has the text several times: what the log takes must not stop a partition behind it."""
    space, text = Space("long/one"), "\U0001f300" * 1_000_000
    said = {"space": space, "turn_id": "t0", "speaker": {"id": "mia"}, "text": text, "at": "2026-03-01T10:00:00Z"}
    bootstrap = planted.broker.bootstrap
    await until(partial(all_serve, planted), 120)
    follower = Follower(bootstrap, PARTITIONS, "long")
    following = asyncio.create_task(follower.until(1))
    await follower.ready.wait()
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, max_request_size=16 * 1024 * 1024)
    await producer.start()
    try:
        body = json.dumps(said, ensure_ascii=False).encode()
        await producer.send_and_wait(TURNS.name, body, key=space.encode(), partition=partition_of(space, 24))
    finally:
        await producer.stop()
    await following
    verdict = await judge(bootstrap, PARTITIONS, {space: ["t0"]})
    assert (verdict.committed, verdict.lettered, verdict.breaks) == (1, 0, 0)


async def test_a_load_goes_by_turns_through_these_and_through_faust_as_shipped(planted: Plant) -> None:
    """What the runtime is measured against does the same work: each turn once, in order, and counted by every stage."""
    bootstrap = planted.broker.bootstrap
    await until(partial(all_serve, planted), 120)
    pairs = await beside_shipped(planted, Load(400, 20))
    assert [[len(one.latencies) for one in pair] for pair in pairs] == [[200, 200]] * PARTS
    arrived = await values(bootstrap, topic_of(STAGES))
    changes = await values(bootstrap, changelog_of(STAGES))
    for load in parts_of(Load(400, 20)):
        published = by_space(load.events())
        assert (await judge(bootstrap, PARTITIONS, published)).is_clean
        for space, turn_ids in published.items():
            counted = [*range(1, len(turn_ids) + 1)]
            assert [turn["turn_id"] for turn in arrived[space]] == turn_ids
            assert [turn["counts"] for turn in arrived[space]] == [[number] * STAGES for number in counted]
            assert changes[json.dumps(space)] == counted


async def values(bootstrap: str, topic: str) -> dict[str, list[Any]]:
    """Return the values of a topic by key, each in order."""
    found: dict[str, list[Any]] = defaultdict(list)
    async for record in Log(bootstrap).snapshot(topic, PARTITIONS):
        found[(record.key or b"").decode()].append(json.loads(record.value or b""))
    return found
