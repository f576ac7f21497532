"""One idle stage on a real broker, in a generation of its own, with what a test publishes and reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer

from infra.bench.kafka.idle import IdleNormalize, idle_topology
from infra.bench.kafka.marks import MarksIndex
from infra.kafka import Cluster, wanted
from infra.workers.plane import Plane
from infra.workers.run import Place, Running, running
from schemas.header import EventKind, Header
from schemas.letter import Letter
from schemas.numbered import Numbered
from schemas.space import Space
from schemas.turn import Turn
from streams.codec import Codec, codec
from streams.effects import Outbound
from streams.kafka.gate import IndexGate
from streams.kafka.log import Log
from streams.kafka.names import LETTERS, state_topic, topic_name
from streams.kafka.results import TopicResults
from streams.kafka.states import States
from streams.kafka.wire import HEADER, Record, outbound, partition_of
from streams.state import Counts, load
from streams.topology import FLOW, NORMALIZED, TURNS, Topology

PARTITIONS = 3
_HEADER: Codec[Header] = codec(Header)
_LETTER: Codec[Letter] = codec(Letter)
_generations = iter(range(2, 1000))


def turn(space: str, turn_id: str, **more: Any) -> bytes:
    said = {
        "space": space,
        "turn_id": turn_id,
        "speaker": {"id": "mia"},
        "text": "Hello.",
        "at": "2026-03-01T10:00:00Z",
    }
    return json.dumps(said | more).encode()


@dataclass
class Stage:
    """A stage with the topics of its generation."""

    bootstrap: str
    folder: Path
    name: str
    generation: int

    @property
    def log(self) -> Log:
        return Log(self.bootstrap)

    @property
    def source(self) -> str:
        step = next(step for step in FLOW if step.name == self.name)
        return step.source.name if step.source is TURNS else topic_name(step.source.name, self.generation)

    @property
    def target(self) -> str:
        step = next(step for step in FLOW if step.name == self.name)
        return topic_name(step.target.name, self.generation)

    @property
    def state(self) -> str:
        return state_topic(self.name, self.generation)

    @asynccontextmanager
    async def works(
        self, number: int = 0, stages: Topology | None = None, results: TopicResults | None = None
    ) -> AsyncIterator[Running]:
        """A worker of the stage runs inside the block."""
        index = MarksIndex(self.folder / "marks.sqlite")
        plane = Plane(stages or idle_topology(), index, IndexGate(index), results)
        node = next(node for node in plane.stages if node.name == self.name)
        crashes = self.folder / "crashes.sqlite"
        place = Place(self.bootstrap, self.folder, crashes, number, 6.0, self.generation, reopen=1.0)
        async with running(node, plane, place) as run:
            yield run

    @asynccontextmanager
    async def producer(self, **more: Any) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, **more)
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    async def publish(self, space: str, bodies: Sequence[bytes], *, partition: int | None = None) -> None:
        """Put events into the log as a bot does."""
        at = partition_of(space, 24) if partition is None else partition
        async with self.producer() as producer:
            for body in bodies:
                await producer.send_and_wait(TURNS.name, body, key=space.encode(), partition=at)

    async def feed(self, space: str, positions: Sequence[int], *, spoil: Callable[[bytes], bytes] = bytes) -> None:
        """Put normalized turns into the input of ``localize_state``; ``spoil`` may change their bodies."""
        async with self.producer() as producer:
            for position in positions:
                header = Header(
                    space=Space(space), position=position, kind=EventKind.TURN, event_id=f"t{position}", offset=position
                )
                event = Turn.model_validate_json(turn(space, f"t{position}"))
                stage = IdleNormalize()
                emitted = await stage.decide(Numbered(header=header, event=event), stage.initial(space))
                body = spoil(NORMALIZED.codec.encode(emitted.message))
                sent = outbound(Outbound(header, body), self.source, partition_of(space, PARTITIONS))
                await producer.send_and_wait(
                    sent.topic, sent.value, key=sent.key, partition=sent.partition, headers=list(sent.headers)
                )

    async def outputs(self, space: str) -> list[tuple[int, str]]:
        """Position and event id of each record of a space in the output, in order, repeats included."""
        read = [record async for record in self.log.snapshot(self.target, PARTITIONS)]
        headers = [_HEADER.decode(record.headers[HEADER]) for record in read]
        return [(header.position, header.event_id) for header in headers if header.space == space]

    async def letters(self, space: str) -> list[Letter]:
        """The letters of a space that the stage wrote in this generation, in order, each once."""
        read = [_LETTER.decode(record.value or b"") async for record in self.log.snapshot(LETTERS, 24)]
        known = {letter.letter_id: letter for letter in read if letter.space == space}
        return sorted(known.values(), key=lambda letter: letter.offset)

    async def rows(self) -> list[Record]:
        """Everything in the state topic."""
        return [record async for record in self.log.snapshot(self.state, self._partitions)]

    @property
    def _partitions(self) -> int:
        return 24 if self.source == TURNS.name else PARTITIONS

    async def counts(self, space: str) -> Counts:
        """The sum of a space, as its saved state has it."""
        with closing(States(self.folder / "folded.sqlite")) as states:
            await states.fill(self.log.snapshot(self.state, self._partitions))
            return load(await states.load(self.name, Space(space))).header.counts


def stage_of(bootstrap: str, folder: Path, name: str) -> Stage:
    """Return a stage in a generation of its own."""
    generation = next(_generations)
    with Cluster.at(bootstrap) as cluster:
        cluster.apply(wanted(replication=1, partitions=PARTITIONS, generation=generation))
    return Stage(bootstrap, folder, name, generation)
