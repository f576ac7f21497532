"""Fault 20: work stays with a dead worker for weeks, and nobody is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import KafkaError

from infra.bench.kafka.idle import IdleCommit, IdleExtract, IdleLocalize, IdleNormalize, IdleRoute
from infra.bench.kafka.marks import MarksIndex
from infra.bench.kafka.plant import Plant, plant
from infra.bench.kafka.serving import pages
from infra.kafka import Broker
from infra.workers.ends import NoProgress, code_of, needs_a_person
from infra.workers.plane import Plane
from infra.workers.run import Place, running
from infra.workers.sight import PartitionSight
from streams.kafka.gate import IndexGate
from streams.kafka.wire import partition_of
from streams.topology import FLOW, Topology, build
from tests.kafka.conftest import forked_workers
from tests.kafka.stage_on_kafka import PARTITIONS, Stage, stage_of, turn
from tests.kafka.waiting import until

__all__ = ["forked_workers"]

SPACE = "stuck/u-1"
STILL_S = 1.0
"""Seconds without progress after which a worker is unwell here; a minute as shipped."""


@dataclass(frozen=True)
class Stuck(IdleLocalize):
    """Waits for ever at the third turn of a space, as for a lock that nobody gives back."""

    async def decide(self, message: Any, state: Any) -> Any:
        if message.header.position == 2:
            await asyncio.Event().wait()
        return await super().decide(message, state)


def stuck() -> Topology:
    return build(IdleNormalize(), Stuck(), IdleExtract(), IdleRoute(), IdleCommit())


@pytest.fixture
def stage(lone: Broker, tmp_path: Path) -> Stage:
    return stage_of(lone.bootstrap, tmp_path, "localize_state")


async def test_fault_20_a_worker_that_gets_nowhere_says_so_and_ends_and_the_next_one_finishes(stage: Stage) -> None:
    await stage.feed(SPACE, range(5))
    mine = partition_of(SPACE, PARTITIONS)
    index = MarksIndex(stage.folder / "marks.sqlite")
    plane = Plane(stuck(), index, IndexGate(index), None)
    node = next(node for node in plane.stages if node.name == stage.name)
    place = Place(
        stage.bootstrap, stage.folder, stage.folder / "crashes.sqlite", 0, 6.0, stage.generation, still=STILL_S
    )
    async with running(node, plane, place) as run:
        seen = await until(lambda: _behind(run.pulse.look().partitions, mine))
        assert seen.next == 0, "what was decided before the one that it is stuck at was not written yet"
        await until(lambda: run.pulse.look().partitions[mine].oldest_s > seen.oldest_s + 1)
        assert _line(run.pulse.figures(), "anabranch_oldest_unprocessed_seconds", mine), "it grows, and is a figure"
        reason = await until(run.pulse.unwell)
        assert "no progress" in reason
        assert "5 events wait" in reason
        await asyncio.wait_for(run.ended.wait(), 60)
        assert isinstance(run.fault, NoProgress)
        assert not needs_a_person(code_of(run.fault), was_up=True), "its supervisor starts another one"
    async with stage.works(1) as next_one:
        await until(lambda: _finished(next_one.pulse.look().partitions, mine))
    assert [position for position, _ in await stage.outputs(SPACE)] == [0, 1, 2, 3, 4]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Once it is set, the first client of a group finds nobody who would coordinate it, and only logs that."""
    known, broken = GroupCoordinator.ensure_coordinator_known, asyncio.Event()
    clients: list[GroupCoordinator] = []

    async def ensure_coordinator_known(self: GroupCoordinator) -> None:
        clients.append(self)
        if broken.is_set() and self is clients[0]:
            msg = "Did we not perform bootstrap?"  # as it says where a broker is up and not let in yet
            raise AssertionError(msg)
        await known(self)

    monkeypatch.setattr(GroupCoordinator, "ensure_coordinator_known", ensure_coordinator_known)
    return broken


async def test_fault_20_a_worker_that_finds_no_group_ends(stage: Stage, broken: asyncio.Event) -> None:
    """Left alone it would wait for partitions for ever."""
    broken.set()
    with pytest.raises(KafkaError, match="not perform bootstrap") as fault:
        async with asyncio.timeout(60), stage.works():
            pass
    assert not needs_a_person(code_of(fault.value), was_up=False), "its supervisor starts another one"


async def test_fault_20_a_worker_that_loses_its_group_ends(stage: Stage, broken: asyncio.Event) -> None:
    async with stage.works() as run:
        await until(lambda: len(run.pulse.look().partitions) == PARTITIONS)
        broken.set()
        async with stage.works(1):  # the group makes room for it, and asks everyone to come again
            await asyncio.wait_for(run.ended.wait(), 60)
    assert run.fault is not None


def _behind(partitions: Sequence[PartitionSight], number: int) -> PartitionSight | None:
    found = (one for one in partitions if one.partition == number and one.lag == 5 and one.oldest_s is not None)
    return next(found, None)


def _finished(partitions: Sequence[PartitionSight], number: int) -> bool:
    return any(one.partition == number and (one.next, one.lag, one.oldest_s) == (5, 0, None) for one in partitions)


def _line(page: bytes, name: str, number: int) -> str:
    lines = [line for line in page.decode().splitlines() if line.startswith(name) and f'partition="{number}"' in line]
    return lines[0] if lines else ""


async def test_fault_20_what_a_dead_worker_held_is_anothers(tmp_path: Path) -> None:
    """It is stopped in its tracks and never says goodbye; the group gives its partitions away all the same."""
    workers = {step.name: int(step.name == "normalize") for step in FLOW}
    with plant(tmp_path / "plant", qdrant=None, workers=workers, partitions=PARTITIONS) as it:
        stage = Stage(it.broker.bootstrap, tmp_path, "normalize", 1)
        await until(partial(_held, it, 0), 120)
        it.freeze("normalize", 0)
        await stage.publish(SPACE, [turn(SPACE, f"t{number}") for number in range(4)])
        it.start("normalize", 1)
        begun = time.monotonic()
        await until(partial(_all_out, stage, 4), 120)
        assert time.monotonic() - begun < 90, "a session is ten seconds, not weeks"
        it.wake("normalize", 0)
        await stage.publish(SPACE, [turn(SPACE, "t4")])
        await until(partial(_all_out, stage, 5))
        assert sorted(set(await stage.outputs(SPACE))) == [(n, f"t{n}") for n in range(5)]


async def _held(it: Plant, number: int) -> bool:
    found = await asyncio.to_thread(pages, it.broker.bootstrap, it.workers)
    page = found.get(("normalize", number))
    return page is not None and len(page["partitions"]) == it.partitions["normalize"]


async def _all_out(stage: Stage, count: int) -> bool:
    return len(set(await stage.outputs(SPACE))) == count
