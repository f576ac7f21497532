"""Workers on a real broker and a real index: supervised, watched, operated."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.errors import UsageError
from infra.kafka import Broker, Cluster, wanted
from infra.qdrant.process import Address
from infra.settings import Settings
from infra.workers import operating
from infra.workers.groups import members
from infra.workers.plane import Plane
from infra.workers.real_plane import real_plane
from infra.workers.run import Place, Running, running
from schemas.letter import Letter
from streams.codec import codec
from streams.kafka.log import Log
from streams.kafka.names import LETTERS, group_of, topic_name
from streams.kafka.wire import partition_of
from streams.stopped import StageCrashed
from tests.fakes.odd_stages import odd_topology
from tests.fakes.qdrant_server import address
from tests.fakes.real_home import said, story
from tests.kafka.waiting import until

__all__ = ["address"]

PARTITIONS = 2
LOG_PARTITIONS = 24
LETTER = codec(Letter)


@pytest.fixture(scope="module")
def broker(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A cluster of the workers' own: they take whatever lies in the log."""
    with Broker.at(tmp_path_factory.mktemp("workers"), libs, quick=True) as one:
        with Cluster.at(one.bootstrap) as cluster:
            cluster.apply(wanted(replication=1, partitions=PARTITIONS))
        yield one


@pytest.fixture(scope="module")
def settings(broker: Broker, address: Address, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        home=tmp_path_factory.mktemp("home"),
        embedder="hash",
        kafka=broker.bootstrap,
        qdrant_url=address.url,
        qdrant_grpc_port=address.grpc_port,
    )


def generation(settings: Settings, number: int, **limits: Mapping[str, str]) -> int:
    """Make the topics of a generation that a test has for itself; ``limits`` are settings by topic."""
    topics = [
        replace(topic, settings={**topic.settings, **limits.get(topic.name.partition(".g")[0].replace(".", "_"), {})})
        for topic in wanted(replication=1, partitions=PARTITIONS, generation=number)
    ]
    with Cluster.at(str(settings.kafka)) as cluster:
        cluster.apply(topics)
    return number


async def publish(settings: Settings, space: str, bodies: Sequence[bytes]) -> list[int]:
    """Append to the log, and return the offsets."""
    producer = AIOKafkaProducer(bootstrap_servers=settings.kafka, enable_idempotence=True)
    await producer.start()
    try:
        partition = partition_of(space, LOG_PARTITIONS)
        sent = [await producer.send("turns", body, key=space.encode(), partition=partition) for body in bodies]
        return [(await one).offset for one in sent]
    finally:
        await producer.stop()


async def keys(settings: Settings, topic: str, space: str, partitions: int = PARTITIONS) -> list[tuple[bytes, bytes]]:
    """Return the records of a space in a topic, oldest first."""
    log, number = Log(str(settings.kafka)), partition_of(space, partitions)
    return [
        (record.key or b"", record.value or b"")
        async for record in log.read(topic, number)
        if (record.key or b"").decode().split(" ")[0] == space
    ]


def page(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


# the supervisor and its children, as the command line runs them


@dataclass
class Herd:
    """``anabranch worker normalize --workers 2``, and what it logs."""

    settings: Settings
    process: subprocess.Popen[bytes]
    log: Path

    def events(self, event: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["event"] == event]

    def cli(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), obj=Session(settings=lambda: self.settings))

    def status(self) -> list[dict[str, Any]]:
        result = self.cli("worker", "status", "--json")
        assert result.exit_code == 0, result.output
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        return [row for row in rows if row["stage"] == "normalize"]

    def works(self) -> list[dict[str, Any]]:
        """Return the workers' rows once all partitions are in good hands."""
        rows = self.status()
        whole = [row["partitions"] for row in rows] == [LOG_PARTITIONS // 2] * 2
        well = all(row["worker"] is not None and not row["unwell"] and row["lag"] == 0 for row in rows)
        return rows if whole and well else []


def environment(settings: Settings) -> dict[str, str]:
    own = {
        "ANABRANCH_HOME": str(settings.home),
        "ANABRANCH_EMBEDDER": settings.embedder,
        "ANABRANCH_KAFKA": str(settings.kafka),
        "ANABRANCH_QDRANT_URL": str(settings.qdrant_url),
        "ANABRANCH_QDRANT_GRPC_PORT": str(settings.qdrant_grpc_port),
    }
    return {name: value for name, value in os.environ.items() if not name.startswith("ANABRANCH_")} | own


@pytest.fixture(scope="module")
def herd(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Herd]:
    log = tmp_path_factory.mktemp("herd") / "log"
    command = [sys.executable, "-m", "infra.cli", "worker", "normalize", "--workers", "2"]
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment(settings), stderr=file, stdout=file)
    try:
        started = Herd(settings, process, log)
        asyncio.run(until(started.works, 90))
        yield started
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()


async def test_every_member_is_found_with_its_partitions_and_its_pages(herd: Herd) -> None:
    rows = await until(herd.works)
    assert [row["worker"] for row in rows] == [0, 1]
    for up in herd.events("up"):
        assert page(up["port"], "/healthz") == (200, "ok\n")
        assert page(up["port"], "/readyz") == (200, "ok\n")
        assert up["pid"] in {row["pid"] for row in rows}
    table = herd.cli("worker", "status").stdout
    assert "normalize" in table
    assert "no worker runs: start one with `anabranch worker commit`" in table


async def test_the_figures_tell_what_was_done(herd: Herd) -> None:
    await publish(herd.settings, "acme/count", [*story(5, "acme/count"), b"no turn at all"])
    await until(lambda: _figure(herd, "anabranch_events_handled_total") == 6)
    assert _figure(herd, "anabranch_letters_total") == 1
    assert _figure(herd, "anabranch_batch_seconds_count") >= 1
    assert _figure(herd, "anabranch_lag_events") == 0
    (line,) = herd.events("lettered")
    assert (line["level"], line["stage"], line["space"]) == ("warning", "normalize", "acme/count")


def _figure(herd: Herd, name: str) -> float:
    """Return the sum of a figure over all workers and labels."""
    pages = [page(int(row["address"].rpartition(":")[2]), "/metrics")[1] for row in herd.status()]
    lines = [line for text in pages for line in text.splitlines() if line.startswith(f"{name}{{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


async def test_a_paused_stage_keeps_its_partitions_and_takes_nothing(herd: Herd) -> None:
    assert (await asyncio.to_thread(herd.cli, "pause", "normalize")).exit_code == 0
    await until(lambda: all("an operator: the stage is paused" in row["waits_for"] for row in herd.status()))
    await publish(herd.settings, "acme/paused", story(7, "acme/paused"))
    await until(lambda: _figure(herd, "anabranch_waiting") >= 7)
    assert await keys(herd.settings, "turns.normalized", "acme/paused") == []
    assert sum(row["partitions"] for row in herd.status()) == LOG_PARTITIONS
    assert (await asyncio.to_thread(herd.cli, "resume", "normalize")).exit_code == 0
    await until(lambda: _count(herd.settings, "turns.normalized", "acme/paused", 7))
    assert [line["event"] for line in (*herd.events("paused"), *herd.events("resumed"))].count("paused") == 2


async def _count(settings: Settings, topic: str, space: str, least: int) -> bool:
    return len(set(await keys(settings, topic, space))) >= least  # a repeat is the same record


def test_a_stage_that_runs_is_not_rewound(herd: Herd) -> None:
    result = herd.cli("rewind", "normalize")
    assert result.exit_code == 2
    assert "anabranch-normalize-0@127.0.0.1" in result.output


async def test_a_worker_that_is_killed_is_started_again_and_nothing_is_lost(herd: Herd) -> None:
    victim = herd.status()[0]
    os.kill(victim["pid"], signal.SIGKILL)
    await publish(herd.settings, "acme/killed", story(20, "acme/killed"))
    (restarted,) = await until(lambda: herd.events("restarted"))
    assert (restarted["child"], restarted["cause"], restarted["times"]) == (0, "SIGKILL", 1)
    await until(lambda: _count(herd.settings, "turns.normalized", "acme/killed", 20))
    rows = await until(lambda: [row for row in herd.works() if row["pid"] != victim["pid"] and row["worker"] == 0])
    assert rows[0]["restarts"] == {"SIGKILL": 1}
    assert _figure(herd, "anabranch_restarts_total") == 1


def test_sigterm_ends_all_within_seconds(herd: Herd) -> None:
    pids = [row["pid"] for row in herd.status()]
    begun = time.monotonic()
    herd.process.send_signal(signal.SIGTERM)
    assert herd.process.wait(25) == 0
    assert time.monotonic() - begun < 20
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert herd.events("killed") == []


# single workers in this process


@asynccontextmanager
async def flow(
    settings: Settings, number: int, ports: Plane, *stages: str, **more: Any
) -> AsyncIterator[list[Running]]:
    """Run stages (all: unnamed) of a generation inside the block."""
    folder = settings.home / f"g{number}"
    folder.mkdir(exist_ok=True)
    where = Place(str(settings.kafka), folder, folder / "crashes.sqlite", generation=number, **more)
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(running(node, ports, where))
            for node in ports.stages
            if not stages or node.name in stages
        ]


async def _left(settings: Settings, number: int, stage: str) -> bool:
    return not members(str(settings.kafka), [(stage, group_of(stage, number))])


async def test_a_stage_rewound_gives_the_same_memory_again(settings: Settings) -> None:
    number, space = generation(settings, 2), "acme/again"
    memory = topic_name("memory", number)
    async with real_plane(settings) as ports:
        await publish(settings, space, story(24, space))
        async with flow(settings, number, ports) as workers:
            await until(lambda: _committed(settings, memory, space, 24), 60)
            assert [worker.fault for worker in workers] == [None] * 5
        before = await keys(settings, memory, space)
        for stage in ("normalize", "extract_per_view", "commit"):
            await until(partial(_left, settings, number, stage))
            async with operating.operated(str(settings.kafka), stage, number) as one:
                assert len(await operating.rewind(one, None, number)) == one.count
        await publish(settings, space, story(2, space, 24))
        async with flow(settings, number, ports) as workers:
            await until(lambda: _committed(settings, memory, space, 26), 60)
            assert workers[0].worker.shared.metrics.handled >= 26
    after = await keys(settings, memory, space)
    assert after[: len(before)] == before
    again = [row for row in after[len(before) :] if row in before]
    assert len(again) >= len(before), "commit wrote all of it once more"
    assert len(dict(after)) == len(set(after)), "no row of memory has two values"


async def _committed(settings: Settings, memory: str, space: str, least: int) -> bool:
    rows = await keys(settings, memory, space)
    return len({key for key, _ in rows if b" outcome " in key}) >= least


async def test_a_rewind_is_refused_for_a_partition_that_is_not_there(settings: Settings) -> None:
    async with operating.operated(str(settings.kafka), "commit") as one:
        with pytest.raises(UsageError, match="has no partition 2"):
            await operating.rewind(one, PARTITIONS)
        with pytest.raises(UsageError, match="is none of them"):
            await operating.quarantine(one, 0, 10**6)


async def test_a_text_that_crashes_a_stage_is_a_letter_the_third_time(settings: Settings) -> None:
    number, space = generation(settings, 3), "acme/odd"
    async with real_plane(settings) as ports:
        odd = replace(ports, stages=odd_topology())
        bodies = [said("a", "fine", space), said("b", "it crashes normalize", space), said("c", "fine too", space)]
        await publish(settings, space, bodies)
        for _ in range(2):
            async with flow(settings, number, odd, "normalize") as (worker,):
                await asyncio.wait_for(worker.ended.wait(), 30)
                assert isinstance(worker.fault, StageCrashed)
        async with flow(settings, number, odd, "normalize") as (worker,):
            await until(lambda: _count(settings, topic_name("turns.normalized", number), space, 3))
            assert worker.fault is None
    letters = [LETTER.decode(value) for _, value in await keys(settings, LETTERS, space, LOG_PARTITIONS)]
    assert {(letter.turn_id, letter.reason.splitlines()[0]) for letter in letters} == {
        ("b", "crashed: normalize failed 3 times")
    }


async def test_a_stopped_partition_says_why_and_goes_on_when_its_event_is_given_up(settings: Settings) -> None:
    number, space = generation(settings, 4, turns_normalized={"max.message.bytes": "60000"}), "acme/large"
    output, partition = topic_name("turns.normalized", number), partition_of(space, LOG_PARTITIONS)
    async with real_plane(settings) as ports, flow(settings, number, ports, "normalize", reopen=0.5) as (worker,):
        await until(lambda: _says(worker, "/readyz", 200))
        long = "The floor gave way. " * 4000
        bodies = [said("a", "fine", space), said("b", long, space), said("c", "fine too", space)]
        offsets = await publish(settings, space, bodies)
        way_on = f"`anabranch quarantine normalize {partition} {offsets[1]}`"
        await until(lambda: _stopped(worker, partition, way_on))
        figures = await asyncio.to_thread(page, worker.port, "/metrics")
        assert 'anabranch_partitions_stopped{stage="normalize",worker="0"} 1.0' in figures[1]
        assert await _says(worker, "/healthz", 200), "a stopped partition alone makes nobody start it again"
        async with operating.operated(str(settings.kafka), "normalize", number) as one:
            await operating.quarantine(one, partition, offsets[1])
        await until(lambda: _count(settings, output, space, 3))
        await until(lambda: _stopped(worker, partition, None))
        assert worker.fault is None
    letters = [LETTER.decode(value) for _, value in await keys(settings, LETTERS, space, LOG_PARTITIONS)]
    assert [(letter.turn_id, "quarantined by an operator" in letter.reason) for letter in letters] == [("b", True)]


async def _says(worker: Running, path: str, code: int) -> bool:
    return (await asyncio.to_thread(page, worker.port, path))[0] == code


async def _stopped(worker: Running, partition: int, reason: str | None) -> bool:
    """Whether the status page says that the partition stopped for a reason, or (``None``) that it runs."""
    status = json.loads((await asyncio.to_thread(page, worker.port, "/status"))[1])
    said = next((one["stopped"] for one in status["partitions"] if one["partition"] == partition), "not ours")
    return said is None if reason is None else reason in (said or "")


async def test_a_broker_that_goes_away_and_comes_back_is_waited_for(settings: Settings, broker: Broker) -> None:
    number, space = generation(settings, 5), "acme/away"
    output = topic_name("turns.normalized", number)
    async with real_plane(settings) as ports, flow(settings, number, ports, "normalize", reopen=0.5) as (worker,):
        await publish(settings, space, story(3, space))
        await until(lambda: _count(settings, output, space, 3))
        await asyncio.to_thread(broker.stop)
        await asyncio.to_thread(broker.start)
        await publish(settings, space, story(3, space, 3))
        await until(lambda: _count(settings, output, space, 6))
        assert worker.fault is None
