"""``bench kafka``: throughput, latency and faults of a whole installation, judged by what it leaves."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from infra.bench.kafka.alike import embedded, unlike
from infra.bench.kafka.faults import Faults
from infra.bench.kafka.load import Load
from infra.bench.kafka.phases import Course, Timed
from infra.bench.kafka.plant import Plant, plant
from infra.bench.kafka.scaling import scaled
from infra.bench.kafka.shipped import beside_shipped, compared
from infra.bench.kafka.states import states_of
from infra.bench.kafka.verdict import Verdict, by_space, judge
from infra.bench.kafka.warm import warm
from infra.kafka_clients import quiet
from infra.settings import Settings
from schemas.space import Space


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: its load, ``rate`` in turns a second (none: at once), workers a stage, faults, and what is compared.

    ``qdrant`` is the server's binary; without one the stages do nothing. ``away`` is how long (s) the fault ``index``
    lasts. ``alike`` compares memory and all states with the embedded mode's, byte for byte. ``half`` publishes as much
    again at half the rate that was reached; ``hot`` turns of one space come at once, beside others at a quarter of it.
    ``scale`` are counts of workers of a stage that waits ``call`` seconds for a model. ``shipped`` runs a load alike
    by turns through the workers and through Faust as shipped, on the same broker.
    """

    load: Load
    rate: float | None = None
    workers: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    qdrant: Path | None = None
    away: float = 4.0
    alike: bool = False
    partitions: int = 24
    half: bool = False
    hot: int = 0
    scale: tuple[int, ...] = ()
    call: float = 0.5
    shipped: bool = False

    @property
    def halved(self) -> Load:
        """The load at half the rate."""
        return replace(self.load, seed=self.load.seed + 1, tenant="half")

    @property
    def imported(self) -> Load:
        """The turns of one space that come at once."""
        return Load(self.hot, 1, self.load.seed, tenant="hot")

    @property
    def neighbours(self) -> Load:
        """What is published beside them."""
        return replace(self.load, seed=self.load.seed + 2, tenant="near")

    def events(self) -> Iterator[tuple[Space, bytes]]:
        """Give everything that is published."""
        yield from self.load.events()
        yield from self.halved.events() if self.half else ()
        for load in (self.imported, self.neighbours) if self.hot else ():
            yield from load.events()


@dataclass(slots=True)
class Outcome:
    """What a run gave: the verdict, how fast it was, and how many rows and states are unlike the embedded mode's."""

    verdict: Verdict
    timed: Timed
    half: Timed | None = None
    neighbours: Timed | None = None
    imported: Timed | None = None
    unlike: int | None = None
    unlike_states: int | None = None
    scaled: Mapping[int, float] = field(default_factory=dict)
    recovered: Sequence[str] = ()
    shipped: Sequence[tuple[Timed, Timed]] = ()


async def run_kafka(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it in a folder of its own, print what happened, and return it."""
    if "broker" in wanted.faults:
        quiet()  # several times a second they say that it is away
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        workers = dict(wanted.workers)
        with plant(Path(folder), qdrant=wanted.qdrant, workers=workers, partitions=wanted.partitions) as it:
            outcome = await _driven(it, settings, wanted, console)
            if wanted.shipped:
                outcome.shipped = await beside_shipped(it, wanted.load)
    if wanted.scale:
        outcome.scaled = await scaled(wanted.scale, wanted.call, wanted.partitions)
    _print(outcome, wanted, console)
    return outcome


async def _driven(it: Plant, settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    await warm(it, wanted.partitions)
    course = Course(it.broker.bootstrap, wanted.partitions, patience=120 + wanted.away)
    faults = Faults(it, wanted.load.seed, lambda what: console.print(f"  {what}", highlight=False), away=wanted.away)
    beside = [asyncio.create_task(work) for work in (faults.supervise(), faults.recovery.watch())]
    going = asyncio.create_task(faults.go_through(list(wanted.faults)))
    try:
        outcome = Outcome(Verdict(), await course.go(wanted.load, wanted.rate))
        if not going.done():
            console.print("  all turns have ended, and faults are left: more turns or a lower --rate would meet them")
        await going
        await _measured(outcome, course, wanted)
        await _judged(outcome, settings, wanted, it)
    finally:
        for task in (*beside, going):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    outcome.verdict.odd = len(faults.odd)
    outcome.recovered = faults.recovery.told()
    return outcome


async def _measured(outcome: Outcome, course: Course, wanted: Wanted) -> None:
    """Take the latencies that follow from the rate that was reached."""
    reached = outcome.timed.rate
    if wanted.half:
        outcome.half = await course.go(wanted.halved, reached / 2)
    if wanted.hot:
        pair = await course.beside(wanted.neighbours, reached / 4, wanted.imported)
        outcome.neighbours, outcome.imported = pair


async def _judged(outcome: Outcome, settings: Settings, wanted: Wanted, it: Plant) -> None:
    """Read what all topics hold, and compare it."""
    published = by_space(wanted.events())
    outcome.verdict = await judge(it.broker.bootstrap, wanted.partitions, published)
    if wanted.alike:
        alone = await embedded(settings, wanted.events(), idle=it.idle)
        last = {space: len(turn_ids) - 1 for space, turn_ids in published.items()}
        states = await states_of(it.broker.bootstrap, wanted.partitions, last)
        outcome.unlike = unlike(outcome.verdict.memory, alone.memory)
        outcome.unlike_states = unlike(states, alone.states)


def _print(outcome: Outcome, wanted: Wanted, console: Console) -> None:
    def tell(what: object) -> None:
        console.print(str(what), highlight=False, soft_wrap=True)

    load = wanted.load
    kind = "idle stages" if wanted.qdrant is None else "real stages"
    tell(f"{kind}, {load.turns} turns, {load.spaces} spaces, seed {load.seed}")
    if wanted.faults:
        tell("faults: " + ", ".join(f"{n} {name}" for name, n in sorted(Counter(wanted.faults).items())))
    tell(outcome.verdict)
    tell(outcome.timed)
    tell(f"no turn ended for {outcome.timed.standstill:.1f} s at most")
    if outcome.shipped:
        tell(compared(outcome.shipped))
    for line in outcome.recovered:
        tell(line)
    if outcome.half is not None:
        tell(f"at half of that: {outcome.half}")
    if outcome.imported is not None:
        tell(f"one space imports {wanted.hot} turns at once: {outcome.imported}")
        tell(f"beside it: {outcome.neighbours}")
    if outcome.unlike is not None:
        tell(f"unlike the embedded mode's: rows of memory={outcome.unlike} states={outcome.unlike_states}")
    for count, rate in outcome.scaled.items():
        ratio = rate / next(iter(outcome.scaled.values()))
        tell(
            f"{count} workers of a stage that calls a model for {wanted.call} s: {rate:.1f} turns/s, ratio {ratio:.2f}"
        )
