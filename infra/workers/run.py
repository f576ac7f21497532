"""One worker process: a stage of the flow as a member of its consumer group, until it is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.telemetry import tracing
from infra.workers.health import STILL_S, Health
from infra.workers.plane import Plane
from infra.workers.producer import producing
from infra.workers.pulse import Pulse
from infra.workers.sizes import Sizes
from infra.workers.web import HOST, serving
from streams.collector import settle
from streams.crashes import CrashBook
from streams.deaths import Deaths
from streams.faust_app import GroupSettings, end_of, lost_group, make_app
from streams.hand import Hand
from streams.kafka.effects import Topics
from streams.kafka.gate import IndexGate
from streams.kafka.log import Log
from streams.kafka.names import FIRST_GENERATION, LETTERS, group_of, state_topic, topic_name
from streams.kafka.shared import Shared
from streams.kafka.waiting import TellingPatience
from streams.kafka.watch import Watch
from streams.kafka.worker import Worker
from streams.metrics import Metrics
from streams.topology import FIRST, LAST, AnyNode
from streams.watchdog import Watchdog


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker runs: its cluster and folder, the file of crashes that it shares, its number among others.

    Its pages are at ``host`` and ``port`` (0: a free one); ``restarts`` says how often it was started again, by cause;
    ``still`` is how long (s) it may get nowhere, ``reopen`` after how long a partition that stopped is tried again.
    """

    bootstrap: str
    folder: Path
    crashes: Path
    number: int = 0
    session: float = 10.0
    generation: int = FIRST_GENERATION
    port: int = 0
    host: str = HOST
    restarts: Mapping[str, int] = field(default_factory=dict)
    still: float = STILL_S
    reopen: float = 10.0


@dataclass
class Running:
    """A worker that runs; ``ended`` is set when it should stop, with the ``fault`` that made it so, if one did."""

    worker: Worker
    pulse: Pulse
    port: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    fault: BaseException | None = None

    def fail(self, fault: BaseException) -> None:
        """Note what ends the worker; the first fault stands."""
        if self.fault is None:
            self.fault = fault
        self.ended.set()


def source_of(node: AnyNode, generation: int) -> str:
    """Return the topic that a step reads on the cluster: all generations share the log."""
    return node.source.name if node.name == FIRST.name else topic_name(node.source.name, generation)


@asynccontextmanager
async def running(node: AnyNode, plane: Plane, place: Place) -> AsyncIterator[Running]:
    """Run a stage inside the block."""
    name, generation = node.name, place.generation
    topics = Topics(topic_name(node.target.name, generation), state_topic(name, generation))
    source = source_of(node, generation)
    mine = place.folder / f"{name}-{place.number}"
    mine.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        told = stack.enter_context(tracing(name, place.number, source, group_of(name, generation)))
        written = [source, topics.output, topics.state, LETTERS, *([plane.results.topic] if plane.results else [])]
        sending = await stack.enter_async_context(producing(place.bootstrap, f"anabranch-{place.number}", written))
        if plane.results is not None:
            await stack.enter_async_context(plane.results.opened(sending, mine))
        hand = stack.enter_context(Hand(mine / "hand"))
        deaths = Deaths(hand, place.crashes)
        stack.enter_context(Watchdog(deaths.hung))
        deaths.count()
        faults: list[BaseException] = []
        shared = Shared(
            node=node,
            source=source,
            topics=topics,
            group=group_of(name, generation),
            log=Log(place.bootstrap),
            repairs=Log(place.bootstrap),
            producing=sending,
            gate=plane.gate,
            crashes=CrashBook.open(place.crashes),
            folder=mine,
            fail=faults.append,
            index=plane.index if name == LAST.name else None,
            hand=hand,
            metrics=Metrics(models=plane.models),
            tracing=told,
            reopen=place.reopen,
        )
        worker = Worker(shared)
        run = Running(worker, Pulse(worker, place.number, Health(place.still), place.restarts))
        shared.fail = run.fail
        _tell_waits(shared)
        run.port = await stack.enter_async_context(serving(run.pulse, place.port, place.host))
        settings = GroupSettings(
            place.bootstrap,
            shared.group,
            client_id(name, place.number, place.host, run.port),
            source,
            sending.partitions[source],
            mine,
            place.session,
        )
        app = make_app(settings, worker)
        shared.ends = lambda partition: end_of(app, source, partition)
        run.pulse.crashed = lambda: app.crash_reason if app.crashed else lost_group(app)
        watch = Watch(place.bootstrap, topics.state, worker.followed, worker.heard)
        stack.enter_context(_at_the_side(run, watch.run()))
        await _unless_it_fails(watch.ready.wait(), run)  # operators' rows are followed before a partition is read
        stack.enter_context(_at_the_side(run, run.pulse.beat()))
        if name == LAST.name:  # one stage is enough to say it, and every installation has this one
            sizes = Sizes(place.bootstrap, generation)
            run.pulse.sizes = sizes.found
            stack.enter_context(_at_the_side(run, sizes.look()))
        settle()
        try:
            await _unless_it_fails(app.start(), run)
            yield run
        finally:
            await worker.close()
            await app.stop()


def client_id(stage: str, number: int, host: str, port: int) -> str:
    """Return by what name a worker is known in its group: `anabranch worker status` finds its pages by it."""
    return f"anabranch-{stage}-{number}@{host}:{port}"


def _tell_waits(shared: Shared) -> None:
    """Let admission tell what does not answer, as the stage does."""
    if isinstance(shared.gate, IndexGate):
        shared.gate.patience = TellingPatience(longest=shared.gate.patience.longest, waits=shared.waits)


@contextmanager
def _at_the_side(run: Running, work: Coroutine[Any, Any, None]) -> Iterator[None]:
    """Run something beside the worker inside the block; if it fails, so does the worker."""
    task = asyncio.create_task(work)
    task.add_done_callback(ended := _Ended(run))
    try:
        yield
    finally:
        ended.wanted = True
        task.cancel()


@dataclass
class _Ended:
    """Hears that work at the side of a worker is over; unless that was ``wanted`` it is a fault of the worker."""

    run: Running
    wanted: bool = False

    def __call__(self, task: asyncio.Task[None]) -> None:
        if not self.wanted:
            fault = None if task.cancelled() else task.exception()
            self.run.fail(fault or RuntimeError("what runs beside the worker ended by itself"))


async def _unless_it_fails(work: Coroutine[Any, Any, object], run: Running) -> None:
    """Wait until something is done.

    Raises:
        BaseException: what ended the worker before that.
    """
    waits = [asyncio.ensure_future(one) for one in (work, run.ended.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if run.fault is not None:
            raise run.fault
        await waits[0]
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def until_told(run: Running) -> None:
    """Wait for SIGTERM, Ctrl-C or a fault.

    Raises:
        BaseException: the fault, if there is one.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, run.ended.set)
    await run.ended.wait()
    if run.fault is not None:
        raise run.fault
