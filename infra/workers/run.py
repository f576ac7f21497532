"""One worker process: a stage of the flow as a member of its consumer group, until it is told to end."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from infra.errors import MissingError
from infra.workers.plane import Plane
from streams.crashes import CrashBook
from streams.deaths import Deaths
from streams.faust_app import GroupSettings, make_app
from streams.hand import Hand
from streams.kafka.effects import Producing, Topics
from streams.kafka.log import Log
from streams.kafka.names import FIRST_GENERATION, LETTERS, state_topic, topic_name
from streams.kafka.shared import Shared
from streams.kafka.worker import Worker
from streams.topology import FIRST, LAST, AnyNode
from streams.watchdog import Watchdog

_LINGER_MS: Final = 5
_LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a request: above the largest record of any topic, whose own limits the broker keeps."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker runs: its cluster and folder, the file of crashes that it shares, its number among others."""

    bootstrap: str
    folder: Path
    crashes: Path
    number: int = 0
    session: float = 10.0
    generation: int = FIRST_GENERATION
    linger_ms: int = _LINGER_MS


@dataclass
class Running:
    """A worker that runs; ``ended`` is set when it should stop, with the ``fault`` that made it so, if one did."""

    worker: Worker
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    fault: BaseException | None = None

    def fail(self, fault: BaseException) -> None:
        """Note what ends the worker; the first fault stands."""
        if self.fault is None:
            self.fault = fault
        self.ended.set()


def group_of(stage: str, generation: int = FIRST_GENERATION) -> str:
    """Return the consumer group of a stage."""
    return topic_name(f"anabranch.{stage}", generation)


def source_of(node: AnyNode, generation: int) -> str:
    """Return the topic that a step reads on the cluster: all generations share the log."""
    return node.source.name if node.name == FIRST.name else topic_name(node.source.name, generation)


@asynccontextmanager
async def producing(place: Place, topics: list[str]) -> AsyncIterator[Producing]:
    """Give the engine's own producer.

    Raises:
        MissingError: if the broker does not answer, or a topic is not there; it says which and what to do.
    """
    producer = AIOKafkaProducer(
        bootstrap_servers=place.bootstrap,
        client_id=f"anabranch-{place.number}",
        enable_idempotence=True,
        linger_ms=place.linger_ms,
        max_request_size=_LARGEST,
        max_batch_size=256 * 1024,
    )
    try:
        await producer.start()
    except KafkaError as error:
        await producer.stop()
        msg = f"no Kafka answers at {place.bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
        raise MissingError(msg) from error
    try:
        yield Producing(producer, {topic: await _partitions(producer, topic) for topic in topics})
    finally:
        await producer.stop()


async def _partitions(producer: AIOKafkaProducer, topic: str) -> int:
    try:
        found = await producer.partitions_for(topic)
    except KafkaError as error:
        msg = f"the topic {topic} is not there ({error!r}): run `anabranch topics apply`"
        raise MissingError(msg) from error
    return len(found)


@asynccontextmanager
async def running(node: AnyNode, plane: Plane, place: Place) -> AsyncIterator[Running]:
    """Run a stage inside the block."""
    name, generation = node.name, place.generation
    topics = Topics(topic_name(node.target.name, generation), state_topic(name, generation))
    source = source_of(node, generation)
    mine = place.folder / f"{name}-{place.number}"
    mine.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        sending = await stack.enter_async_context(producing(place, [source, topics.output, topics.state, LETTERS]))
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
            producing=sending,
            gate=plane.gate,
            crashes=CrashBook.open(place.crashes),
            folder=mine,
            fail=faults.append,
            index=plane.index if name == LAST.name else None,
            hand=hand,
        )
        run = Running(Worker(shared))
        shared.fail = run.fail
        settings = GroupSettings(
            place.bootstrap,
            shared.group,
            f"anabranch-{name}-{place.number}",
            source,
            sending.partitions[source],
            mine,
            place.session,
        )
        app = make_app(settings, run.worker)
        try:
            await app.start()
            yield run
        finally:
            await run.worker.close()
            await app.stop()


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
