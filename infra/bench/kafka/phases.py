"""A load on its way through a plant: how fast, and after how long each turn can be recalled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from statistics import quantiles

from infra.bench.kafka.follow import FLOW_CHAIN, Chain, Follower
from infra.bench.kafka.load import Load, publish
from infra.bench.kafka.recovery import standstill
from infra.kafka.topics import LOG_PARTITIONS


@dataclass(frozen=True, slots=True)
class Timed:
    """Turns a second from the first sent to the last ended, and latencies in seconds from sent to recallable.

    ``standstill`` is the longest time (s) in which none ended.
    """

    rate: float
    latencies: tuple[float, ...]
    standstill: float

    @property
    def percentiles(self) -> tuple[float, float]:
        """p50 and p99 of the latencies."""
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]

    def __str__(self) -> str:
        """Describe it in one line."""
        middle, slow = self.percentiles
        return f"{self.rate:.0f} turns/s; sent to recallable p50 {1000 * middle:.0f} ms, p99 {1000 * slow:.0f} ms"


@dataclass(frozen=True, slots=True)
class Course:
    """A plant's broker, how long (s) nothing may end before a run is given up, and what turns go through."""

    bootstrap: str
    partitions: int
    patience: float = 120.0
    chain: Chain = FLOW_CHAIN

    async def go(self, load: Load, rate: float | None = None) -> Timed:
        """Publish a load, and return when all of it can be recalled."""
        return _timed(*await self._went(load, rate))

    async def beside(self, load: Load, rate: float, hot: Load) -> tuple[Timed, Timed]:
        """Publish ``hot`` at once and a load beside it at ``rate``; of the load only what ``hot`` was beside counts."""
        (sent, ended), import_ = await asyncio.gather(self._went(load, rate), self._went(hot))
        until = max(import_[1].values())
        return _timed({name: at for name, at in sent.items() if at < until}, ended), _timed(*import_)

    async def _went(self, load: Load, rate: float | None = None) -> tuple[dict[str, float], dict[str, float]]:
        """Return when each turn was sent, and when its outcome was seen."""
        follower = Follower(self.bootstrap, self.partitions, load.tenant, self.patience, self.chain)
        following = asyncio.create_task(follower.until(load.turns))
        try:
            await _first(following, follower.ready)
            sent = await publish(self.bootstrap, LOG_PARTITIONS, load, rate, self.chain.source)
            await following
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        return sent, follower.ended


async def _first(task: asyncio.Task[None], ready: asyncio.Event) -> None:
    """Wait until it is ready; a task that fails before that says so."""
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        await task


def _timed(sent: dict[str, float], ended: dict[str, float]) -> Timed:
    latencies = tuple(ended[name] - at for name, at in sent.items())
    took = max(_of(ended, sent)) - min(sent.values())
    return Timed(len(sent) / took, latencies, standstill(_of(ended, sent)))


def _of(ended: dict[str, float], names: Iterable[str]) -> list[float]:
    return [ended[name] for name in names]
