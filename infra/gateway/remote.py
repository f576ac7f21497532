"""The Kafka mode, served: turns go into the log, workers do the work, questions go to the index server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from aiokafka import TopicPartition
from aiokafka.errors import MessageSizeTooLargeError, RecordListTooLargeError

from infra.as_of import AsOf
from infra.gateway.backlog import Backlog
from infra.gateway.probes import Probe, unheard
from infra.gateway.served import TooLarge
from infra.memory_api import TurnState
from infra.nights.ownership import successes
from infra.producers import begun
from infra.qdrant.server_answers import Refused
from infra.remote import KafkaMemory, open_remote
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.memory import OutcomeState, RecordKind
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter
from streams.kafka.producing import Producing, RefusedWrite
from streams.kafka.wire import Sent
from streams.metrics import ModelCounts

T = TypeVar("T")

_LARGEST: Final = 4 * 1024 * 1024 - 4096
"""Bytes of a turn that the topic takes, with room for its key and frame (``infra.kafka.topics``)."""

_REQUEST: Final = 16 * 1024 * 1024
"""Bytes of a request to the broker."""

_ACCEPT_S: Final = 10.0
"""Seconds for the log to acknowledge; then the publisher hears that it does not answer, and sends the same again."""

_HELD: Final = 64 * 1024 * 1024
"""Bytes that wait for their acknowledgement at most: a broker that is away must not fill the memory."""

_NIGHTS_S: Final = 60.0
"""Seconds for which is kept when consolidations were: nobody asks more exactly, and figures are asked for often."""

_NEWEST: Final = 64
"""Records of a turn that are looked at; its newest position is among them."""


@dataclass
class KafkaServed:
    """Implements ``Served`` on a cluster. ``waiting`` is the same memory, its reads waiting for what they are about."""

    memory: KafkaMemory
    waiting: KafkaMemory
    producing: Producing
    backlog: Backlog
    probes: Mapping[str, Probe] = field(init=False)
    _held: int = 0
    _nights: dict[str, datetime] = field(default_factory=dict)
    _nights_due: float = 0.0

    def __post_init__(self) -> None:
        self.probes = {"log": Probe(self._log), "index": Probe(self._index), "model": Probe(self._model)}

    async def publish(self, space: Space, turns: Sequence[bytes]) -> None:
        """Append turns; all copies have them when this returns."""
        largest, size = max(map(len, turns)), sum(map(len, turns))
        if largest > _LARGEST:
            msg = f"a turn of {largest} bytes is more than the log takes ({_LARGEST}): publish it as several"
            raise TooLarge(msg)
        if self._held and self._held + size > _HELD:
            msg = f"{self._held} bytes of turns wait for Kafka already"
            raise Unavailable(msg)
        await self.backlog.take(space, len(turns))
        self._held += size
        sending = asyncio.create_task(self._send(space, turns))
        sending.add_done_callback(partial(self._sent, size))
        done, _ = await asyncio.wait({sending}, timeout=_ACCEPT_S)  # what has begun is never cut off half-way
        if not done:
            msg = f"Kafka did not acknowledge turns of {space} within {_ACCEPT_S:g} s: send the same again"
            raise Unavailable(msg)
        sending.result()

    async def _send(self, space: Space, turns: Sequence[bytes]) -> None:
        topic, key = self.memory.topics.layout.log, space.encode()
        partition = self.producing.partition(topic, space)
        try:
            await self.producing.send(Sent(topic, partition, key, turn) for turn in turns)
        except RefusedWrite as error:
            if isinstance(error.__cause__, MessageSizeTooLargeError | RecordListTooLargeError):
                raise TooLarge(str(error)) from error
            raise Unavailable(str(error)) from error  # a topic's rights or policy: the operator's to put right

    def _sent(self, size: int, sending: asyncio.Task[None]) -> None:
        self._held -= size
        if not sending.cancelled():
            sending.exception()  # its publisher may be gone

    async def recall(self, space: Space, question: Question, after: str | None) -> Recalled:
        """Answer a question."""
        memory = self.memory if after is None else self.waiting
        return await self._asked(memory.recall(space, question, after))

    async def answer(self, space: Space, asked: Asked, after: str | None) -> Answer:
        """Answer a question with citations."""
        memory = self.memory if after is None else self.waiting
        return await self._asked(memory.answer(space, asked, after))

    async def position(self, space: Space, as_of: AsOf) -> int:
        """Return the position that ``as_of`` stands for."""
        reads = self.memory.topics.reads
        rows = [] if as_of.needs is None else await self.memory.thread.ask(reads.rows(space, {as_of.needs}))
        return as_of.position(space, rows)

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle for a turn that is not published."""
        return await self._asked(self.memory.context(space, request, budget))

    async def _asked(self, answering: Awaitable[T]) -> T:
        """Return an answer; where the index is gone, as after a reindex, the next question opens what is read now."""
        try:
            return await answering
        except Refused as error:
            self.memory.plane.reopen()
            raise Unavailable(str(error)) from error

    async def turn(self, space: Space, turn_id: str) -> TurnState | None:
        """Return what became of a turn: asked of the index, then of the stages, and of whole topics at last."""
        search = (await self.memory.plane.recall()).search
        newest = await search.watermark(space)
        where = Filter(space, newest, frozenset({RecordKind.TURN}), turn_ids=frozenset({turn_id}), closed_too=True)
        found = await search.matching(where, _NEWEST)
        positions = [one.record.since for one in found if one.record.provenance[0] == turn_id]
        if positions:
            return TurnState(turn_id, max(positions), OutcomeState.COMMITTED)
        standing = await self.memory.thread.ask(self.memory.topics.standings.look(space))
        if standing.may_hold(turn_id):
            return TurnState(turn_id, None, None)
        states = await asyncio.to_thread(lambda: list(self.memory.turns(space)))
        return next((state for state in states if state.turn_id == turn_id), None)

    async def parts(self) -> Mapping[str, str | None]:
        """Return what answers."""
        reasons = await asyncio.gather(*(probe.look() for probe in self.probes.values()))
        return dict(zip(self.probes, reasons, strict=True))

    async def pending(self) -> None:
        """Leave it to the workers, whose figures tell their lag."""

    async def consolidated(self) -> Mapping[str, datetime]:
        """Return when the last run of consolidation over each tenant began that ended well; looked up once a minute."""
        now, layout = asyncio.get_running_loop().time(), self.memory.topics.layout
        if now >= self._nights_due:
            self._nights_due = now + _NIGHTS_S
            try:
                async with asyncio.timeout(_ACCEPT_S):
                    self._nights |= await successes(
                        layout.bootstrap, layout.generation
                    )  # the cluster forgets, we do not
            except TimeoutError as error:
                msg = f"Kafka at {layout.bootstrap} did not say within {_ACCEPT_S:g} s when consolidations were"
                raise Unavailable(msg) from error
        return self._nights

    async def _log(self) -> None:
        topics = self.memory.topics
        await self.memory.thread.ask(topics.ends.ends([TopicPartition(topics.layout.log, 0)]))

    async def _index(self) -> None:
        await (await self.memory.plane.recall()).search.watermark(Space("ready/looks"))

    async def _model(self) -> None:
        await (await self.memory.plane.recall()).embedder.embed_query(unheard("ready"))


@asynccontextmanager
async def open_served(settings: Settings, counts: ModelCounts | None = None) -> AsyncIterator[KafkaServed]:
    """Serve the memory of a cluster inside the block; ``counts`` takes what the language model is asked for answers.

    Raises:
        MissingError: if the cluster does not answer, or lacks topics.
    """
    async with open_remote(settings, wait=False, counts=counts) as memory:
        layout = memory.topics.layout
        begin = partial(begun, layout.bootstrap, "anabranch-gateway", _REQUEST)
        producing = Producing(begin, layout.partitions)

        async def look(space: Space) -> int:
            return (await memory.thread.ask(memory.topics.standings.look(space))).behind

        try:
            backlog = Backlog(settings.gateway_pending, look)
            yield KafkaServed(memory, replace(memory, wait=True), producing, backlog)
        finally:
            await producing.close()
