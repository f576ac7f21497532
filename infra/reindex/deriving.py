"""A generation on Kafka while it is derived: its topics, its workers, and how far they are."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, Final

from aiokafka import TopicPartition

from infra.errors import MissingError, UsageError
from infra.kafka import Cluster, FoundTopic, wanted
from infra.memory_api import Progress
from infra.nights.ownership import group_name
from infra.reindex.api import NotReady, Report
from infra.remote.follower import Follower
from infra.settings import Settings, as_environment, child_environment
from infra.workers.child import Child, folder_of, servers_of
from infra.workers.groups import members
from stages.contract import WINDOW
from streams.kafka.names import FIRST_GENERATION, group_of, state_topic, topic_name
from streams.kafka.wire import NEXT, REWIND, Record, read_next
from streams.topology import FIRST, FLOW, LAST, AnyStep

_LOOK_S: Final = 0.3
_DEATHS: Final = 5
"""Times that a worker is started again before it is given up: what ails it does not pass."""


def source_of(step: AnyStep, generation: int) -> str:
    """Return the topic that a step of a generation reads."""
    return step.source.name if step is FIRST else topic_name(step.source.name, generation)


def make_topics(settings: Settings, partitions: int | None) -> None:
    """Make the topics of the settings' generation; ``partitions`` (unset: those that are there, or the log's)."""
    with Cluster.at(servers_of(settings)) as cluster:
        found = cluster.found([topic_name(LAST.target.name, settings.generation)])
        counts = {"partitions": found[0].partitions} if found else {}
        counts |= {} if partitions is None else {"partitions": partitions}
        cluster.apply(wanted(replication=_log(cluster).replication, generation=settings.generation, **counts))


def _log(cluster: Cluster) -> FoundTopic:
    found = cluster.found([FIRST.source.name])
    if not found:
        msg = "there is no log to derive from: run `anabranch topics apply`, and publish"
        raise UsageError(msg)
    return found[0]


def free_generation(settings: Settings) -> int:
    """Return the number after the last generation that has topics."""
    with Cluster.at(servers_of(settings)) as cluster:
        pattern = re.compile(rf"{re.escape(LAST.target.name)}\.g(\d+)")
        numbers = [int(found[1]) for name in cluster.names() if (found := pattern.fullmatch(name))]
    return 1 + max([FIRST_GENERATION, *numbers])


def remove_generation(settings: Settings) -> None:
    """Remove the topics and groups of the settings' generation, and what its workers kept here; never the first one's.

    Raises:
        UsageError: if workers of it run.
    """
    number, servers = settings.generation, servers_of(settings)
    groups = {step.name: group_of(step.name, number) for step in FLOW}
    running = members(servers, list(groups.items()))
    if running:
        names = ", ".join(member.client for member in running)
        msg = f"workers of generation {number} run ({names}): end them, wait for their session to pass, then abandon"
        raise UsageError(msg)
    own = [topic_name(step.target.name, number) for step in FLOW] + [state_topic(step.name, number) for step in FLOW]
    with Cluster.at(servers) as cluster:
        nights = [name for name in cluster.groups() if name.startswith(group_name("", number))]
        cluster.remove([name for name in own if number != FIRST_GENERATION], [*groups.values(), *nights])
    shutil.rmtree(folder_of(settings), ignore_errors=True)


@dataclass
class Reached:
    """How far the stages of a generation are, as their partition rows say."""

    settings: Settings
    _follower: Follower = field(init=False)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._follower = Follower(servers_of(self.settings), self._take)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._follower.close()

    async def _take(self, topic: str, partition: int, records: Sequence[Record]) -> None:
        for record in records:
            if record.key == REWIND:
                self._next[topic, partition] = 0
            elif record.key == NEXT and record.value is not None:
                before = self._next.get((topic, partition), 0)
                self._next[topic, partition] = max(before, read_next(record.value))

    async def ends(self, step: AnyStep, partitions: int) -> list[int]:
        """Return where each partition of a step's input ends now."""
        parts = [TopicPartition(source_of(step, self.settings.generation), n) for n in range(partitions)]
        found = await self._follower.ends(parts)
        return [found[part] for part in parts]

    async def next(self, step: AnyStep, partitions: int) -> list[int]:
        """Return up to where a step has finished each partition of its input."""
        topic = state_topic(step.name, self.settings.generation)
        await self._follower.catch_up([TopicPartition(topic, number) for number in range(partitions)])
        return [self._next.get((topic, number), 0) for number in range(partitions)]

    async def caught_up(self, ends: Sequence[int], report: Report) -> None:
        """Return when every event of the log before ``ends`` is finished and no stage is a window behind anywhere.

        Raises:
            NotReady: if not all of the generation's topics are there.
            Unavailable: if the broker does not answer.
        """
        goals, counts = list(ends), self._partitions()
        for step in FLOW:
            await self._passed(step, goals, report if step is FIRST else None)
            if step is not LAST:
                after = FLOW[FLOW.index(step) + 1]
                goals = await self.ends(after, counts[after.name])
        while True:
            lags = [await self._lag(step, counts[step.name]) for step in FLOW]
            if max(lags) < WINDOW:
                return
            await asyncio.sleep(_LOOK_S)

    async def _passed(self, step: AnyStep, goals: Sequence[int], report: Report | None) -> None:
        while True:
            now = [min(at, goal) for at, goal in zip(await self.next(step, len(goals)), goals, strict=True)]
            if report is not None:
                report(Progress(sum(now), sum(goals)))
            if sum(now) >= sum(goals):
                return
            await asyncio.sleep(_LOOK_S)

    async def _lag(self, step: AnyStep, partitions: int) -> int:
        ends, done = await self.ends(step, partitions), await self.next(step, partitions)
        return max(end - at for end, at in zip(ends, done, strict=True))

    def _partitions(self) -> dict[str, int]:
        topics = {state_topic(step.name, self.settings.generation): step.name for step in FLOW}
        with Cluster.at(servers_of(self.settings)) as cluster:
            found = {topics[one.name]: one.partitions for one in cluster.found(topics)}
        if len(found) < len(FLOW):
            msg = f"generation {self.settings.generation} has no topics yet: run `anabranch reindex --derive` again"
            raise NotReady(msg)
        return found

    async def log_ends(self) -> list[int]:
        """Return where each partition of the log ends now.

        Raises:
            UsageError: if there is no log.
        """
        with Cluster.at(servers_of(self.settings)) as cluster:
            partitions = _log(cluster).partitions
        return await self.ends(FIRST, partitions)


@dataclass
class Crew:
    """A worker a stage, as processes that end with this one; who dies is started again."""

    settings: Settings
    _running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    _deaths: int = 0

    async def start(self, stage: str) -> None:
        """Start the worker of a stage."""
        log: IO[bytes] = (folder_of(self.settings) / f"{stage}.log").open("ab")
        with log:
            self._running[stage] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "infra.cli", "worker", stage, "--child", Child().told()),
                env=child_environment(as_environment(self.settings)),
                stdin=asyncio.subprocess.PIPE,  # its leash
                stdout=log,
                stderr=log,
            )

    async def tend(self) -> None:
        """Start again who ends, for as long as this is awaited.

        Raises:
            MissingError: if that happens again and again.
        """
        while True:
            for stage, process in list(self._running.items()):
                if process.returncode is not None:
                    self._deaths += 1
                    if self._deaths > _DEATHS:
                        log = folder_of(self.settings) / f"{stage}.log"
                        msg = f"the worker of {stage} ends again and again (code {process.returncode}): see {log}"
                        raise MissingError(msg)
                    await self.start(stage)
            await asyncio.sleep(_LOOK_S)

    async def end(self) -> None:
        """End all."""
        for process in self._running.values():
            if process.returncode is None:
                process.terminate()
        for process in self._running.values():
            try:
                await asyncio.wait_for(process.wait(), 30)
            except TimeoutError:
                process.kill()
                await process.wait()


@asynccontextmanager
async def crew(settings: Settings) -> AsyncIterator[Crew]:
    """Give the workers of a generation, started, inside the block."""
    one = Crew(settings)
    try:
        for step in FLOW:
            await one.start(step.name)
        yield one
    finally:
        await one.end()
