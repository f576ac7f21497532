"""``bench kafka``: throughput, latency and faults of a whole installation, judged by what it leaves."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from rich.console import Console

from infra.bench.kafka.alike import embedded_memory
from infra.bench.kafka.faults import Faults
from infra.bench.kafka.follow import Follower, now
from infra.bench.kafka.load import Load, publish
from infra.bench.kafka.plant import Plant, plant
from infra.bench.kafka.verdict import Verdict, by_space, judge
from infra.kafka.topics import LOG_PARTITIONS
from infra.settings import Settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: its load, ``rate`` in turns a second (none: at once), workers a stage, faults, and what is compared.

    ``qdrant`` is the server's binary; without one the stages do nothing. ``alike`` compares memory with the embedded
    mode's, byte for byte.
    """

    load: Load
    rate: float | None = None
    workers: Mapping[str, int] | None = None
    faults: tuple[str, ...] = ()
    qdrant: Path | None = None
    alike: bool = False
    partitions: int = 24


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: the verdict, turns a second from the first sent to the last ended, and latencies in seconds."""

    verdict: Verdict
    rate: float
    latencies: tuple[float, ...]
    unlike: int | None

    @property
    def percentiles(self) -> tuple[float, float]:
        """p50 and p99 from sent to recallable."""
        cuts = quantiles(self.latencies, n=100)
        return cuts[49], cuts[98]


async def run_kafka(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it in a folder of its own, print what happened, and return it."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        workers = dict(wanted.workers or {})
        with plant(Path(folder), qdrant=wanted.qdrant, workers=workers, partitions=wanted.partitions) as it:
            outcome = await _driven(it, settings, wanted, console)
    _print(outcome, wanted, console)
    return outcome


async def _driven(it: Plant, settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    events = list(wanted.load.events())
    await _warm(it, wanted)
    faults = Faults(it, wanted.load.seed, lambda what: console.print(f"  {what}", highlight=False))
    supervising = asyncio.create_task(faults.supervise())
    follower = Follower(it.broker.bootstrap, wanted.partitions, wanted.load.tenant)
    began = now()
    following = asyncio.create_task(follower.until(len(events)))
    going = asyncio.create_task(faults.go_through(list(wanted.faults)))
    try:
        sent = await publish(it.broker.bootstrap, LOG_PARTITIONS, wanted.load, wanted.rate)
        await going
        await following
    finally:
        for task in (supervising, going, following):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    took = max(follower.ended.values()) - began
    verdict = await judge(it.broker.bootstrap, wanted.partitions, by_space(events))
    unlike = verdict.unlike(await embedded_memory(settings, events)) if wanted.alike else None
    latencies = tuple(follower.ended[name] - at for name, at in sent.items() if not name.startswith("load/hot "))
    return Outcome(verdict, len(events) / took, latencies, unlike)


async def _warm(it: Plant, wanted: Wanted) -> None:
    """Let every worker have its partitions before the clock starts: some turns go through in spaces of their own."""
    load = Load(turns=48, spaces=48, seed=0, tenant="warm")
    warm = Follower(it.broker.bootstrap, wanted.partitions, load.tenant)
    await publish(it.broker.bootstrap, LOG_PARTITIONS, load)
    await warm.until(load.turns)


def _print(outcome: Outcome, wanted: Wanted, console: Console) -> None:
    middle, slow = outcome.percentiles
    load = wanted.load
    kind = "idle stages" if wanted.qdrant is None else "real stages"
    console.print(f"{kind}, {load.turns + load.hot} turns, {load.spaces} spaces, seed {load.seed}", highlight=False)
    if wanted.faults:
        console.print("faults: " + ", ".join(f"{n} {name}" for name, n in sorted(Counter(wanted.faults).items())))
    console.print(str(outcome.verdict), highlight=False, soft_wrap=True)
    console.print(
        f"{outcome.rate:.0f} turns/s; sent to recallable p50 {1000 * middle:.0f} ms, p99 {1000 * slow:.0f} ms"
    )
    if outcome.unlike is not None:
        console.print(f"rows unlike the embedded memory's: {outcome.unlike}", highlight=False)
