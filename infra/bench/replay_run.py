"""``bench replay``: an installation is reindexed under traffic, killed once meanwhile, switched, and rolled back."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
from rich.console import Console

from infra.bench.bots import Bots
from infra.bench.gateway_process import GatewayProcess
from infra.bench.report import lines, quantile
from infra.bench.rig import Rig, rigged, tenant_of
from infra.bootstrap import open_memory
from infra.errors import UsageError
from infra.reindex.kafka import KafkaReindex
from infra.settings import Settings, as_environment, child_environment
from schemas.space import Space
from streams.codec import canonical

_QUESTIONS: Final = ("Where did I go?", "What is new?", "Who bought a camera?", "What colour is it?")
_PATIENCE_S: Final = 900.0
_LOOK_S: Final = 0.5
_SPACES: Final = 40
_AFTER: Final = 200
"""Recalls of the new reader, and of the old one after the way back."""

_now = time.perf_counter  # noqa: TID251 - a benchmark measures


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: ``embedder`` of a new index, or (none) a new generation; turns before it, and bots that go on."""

    embedder: str | None
    qdrant: Path
    turns: int = 1000
    bots: int = 10
    pause: float = 6.0
    seed: int = 1


@dataclass(slots=True)
class Outcome:
    """What askers saw by reader, and what was compared."""

    asked: dict[str, int] = field(default_factory=dict)
    stale: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    unlike: int = 0
    rows: int = 0
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    published: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether no recall failed, both memories are equal, and nothing is left."""
        return not (self.failed or self.unlike or self.left)


async def run_replay(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it on an installation of its own, print what happened, and return it."""
    outcome = Outcome()
    async with rigged(settings, wanted.qdrant) as rig:
        tenant = tenant_of("replay")
        key = rig.key(tenant)
        spaces = [Space(f"{tenant}/s{number}") for number in range(_SPACES)]
        first = Bots(tenant, 40, wanted.turns, _SPACES, wanted.seed, 0.5)
        await first.publish(rig.gateway.url, key)
        await _settled(rig.settings, spaces)
        console.print(f"{len(first.told.accepted)} turns are in memory; now {wanted.bots} bots go on")
        await _Run(rig, wanted, key, spaces, outcome, console).go()
    _print(wanted, outcome, console)
    return outcome


@dataclass(frozen=True, slots=True)
class _Run:
    """An installation whose memory has something in it, and all that is done to it."""

    rig: Rig
    wanted: Wanted
    key: str
    spaces: Sequence[Space]
    outcome: Outcome
    console: Console

    async def go(self) -> None:
        """Reindex while bots publish and others ask; go back, and clear away what was built."""
        building, reading = _settings(self.rig.settings, self.wanted)
        work = KafkaReindex(building)
        before = await _there(work)
        going = Bots(self.spaces[0].tenant, self.wanted.bots, 10**9, _SPACES, self.wanted.seed + 1, self.wanted.pause)
        talking = asyncio.create_task(going.publish(self.rig.gateway.url, self.key))
        asking = asyncio.create_task(self._ask(self.rig, "the old reader"))
        began = _now()
        try:
            async with _reindexing(building, self.wanted, work, self.console):
                await _until_done(building, "switch")
                self.outcome.seconds = _now() - began
                self.console.print(f"switched {self.outcome.seconds:.0f} s after it began")
                async with _gateway(reading, self.rig.gateway.folder) as other:
                    await self._ask(Rig(other, reading, self.rig.mode), "the new reader", _AFTER)
                await _ended(talking)
                self.outcome.published = len(going.told.accepted)
                await self._compare(reading)
                await _until_done(reading, "rollback")
            await self._ask(self.rig, "the old reader, after the way back", _AFTER)
        finally:
            await _ended(talking)
            await _ended(asking)
        await _until_done(building, "abandon")
        self.outcome.left = sorted(await _there(work) ^ before)

    async def _compare(self, new: Settings) -> None:
        """Count rows that the two memories do not have alike, when both have everything."""
        old = self.rig.settings
        for settings in (old, new):
            await _settled(settings, self.spaces)
        async with open_memory(old, wait=False) as one, open_memory(new, wait=False) as other:
            for space in self.spaces:
                ours, theirs = ({canonical(row) for row in memory.rows(space)} for memory in (one, other))
                self.outcome.rows += len(ours)
                self.outcome.unlike += len(ours ^ theirs)

    async def _ask(self, rig: Rig, who: str, count: int | None = None) -> None:
        """Ask on and on, or ``count`` times, and note whatever is no answer."""
        outcome, number = self.outcome, 0
        async with rig.client(self.key) as client:
            while count is None or number < count:
                space, question = self.spaces[number % len(self.spaces)], _QUESTIONS[number % len(_QUESTIONS)]
                began, stale = _now(), False
                try:
                    answer = await client.post(f"/v1/spaces/{space}/recall", json={"question": question, "k": 5})
                    stale = answer.raise_for_status().json()["stale"]
                except httpx.HTTPError as error:
                    outcome.failed.append(f"{who}: {error!r}")
                outcome.took.append(_now() - began)
                outcome.asked[who] = outcome.asked.get(who, 0) + 1
                outcome.stale[who] = outcome.stale.get(who, 0) + stale
                number += 1
                await asyncio.sleep(0.02)


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _settings(settings: Settings, wanted: Wanted) -> tuple[Settings, Settings]:
    """Return the settings to build with, and those of who reads what was built."""
    if wanted.embedder is not None:
        new = settings.model_copy(update={"embedder": wanted.embedder})
        return new, new
    return settings, settings.model_copy(update={"generation": settings.generation + 1})


async def _there(work: KafkaReindex) -> set[str]:
    """Return what there is, by role and name."""
    return {f"{one.role} {one.name}" for one in await work.status()}


async def _settled(settings: Settings, spaces: Sequence[Space]) -> None:
    """Return when every event of the spaces has its outcome."""
    deadline = _now() + _PATIENCE_S
    async with open_memory(settings, wait=False) as memory:
        for space in spaces:
            while memory.inspect(space).sums.pending:
                if _now() > deadline:
                    msg = f"{space} has events without outcome after {_PATIENCE_S:.0f} s"
                    raise TimeoutError(msg)
                await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def _gateway(settings: Settings, folder: Path) -> AsyncIterator[GatewayProcess]:
    gateway = GatewayProcess(settings, folder)
    try:
        await gateway.start()
        yield gateway
    finally:
        gateway.stop()


async def _started(settings: Settings, *arguments: str) -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "infra.cli", "reindex", *arguments]
    quiet = asyncio.subprocess.DEVNULL
    environment = child_environment(as_environment(settings))
    return await asyncio.create_subprocess_exec(*command, env=environment, stdout=quiet, stderr=quiet)


@asynccontextmanager
async def _reindexing(settings: Settings, wanted: Wanted, work: KafkaReindex, console: Console) -> AsyncIterator[None]:
    """Let it be built while the block lasts: killed once as soon as it has begun, then started again."""
    how = "--derive" if wanted.embedder is None else "--vectors"
    process = await _started(settings, how)
    while not any(one.role == "next" for one in await work.status()):
        if process.returncode is not None:
            msg = f"`anabranch reindex {how}` ended with {process.returncode}"
            raise UsageError(msg)
        await asyncio.sleep(_LOOK_S)
    await asyncio.sleep(4 * _LOOK_S)
    process.kill()
    await process.wait()
    console.print("  killed once it had begun, and started again")
    process = await _started(settings, how)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def _until_done(settings: Settings, what: str) -> None:
    """Give a command until it does not refuse."""
    deadline = _now() + _PATIENCE_S
    while True:
        process = await _started(settings, what)
        if await process.wait() == 0:
            return
        if _now() > deadline:
            msg = f"`anabranch reindex {what}` is refused for {_PATIENCE_S:.0f} s"
            raise TimeoutError(msg)
        await asyncio.sleep(2 * _LOOK_S)


def _print(wanted: Wanted, outcome: Outcome, console: Console) -> None:
    what = f"--vectors {wanted.embedder}" if wanted.embedder is not None else "--derive"
    p50, p99 = (1000 * quantile(outcome.took, part) for part in (0.5, 0.99))
    asked = [f"{who}: {count} recalls, {outcome.stale[who]} stale" for who, count in outcome.asked.items()]
    told = [
        f"reindex {what}: {wanted.turns} turns before, {outcome.published} beside it",
        f"switched {outcome.seconds:.0f} s after it began",
        *asked,
        f"failed recalls={len(outcome.failed)}; p50 {p50:.0f} ms, p99 {p99:.0f} ms",
        f"rows unlike={outcome.unlike} of {outcome.rows}; left after abandon={len(outcome.left)}",
        *outcome.failed[:3],
        *outcome.left,
    ]
    lines(console, told)
