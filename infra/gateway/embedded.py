"""The embedded mode, served: one process owns the home, publishes to it, processes it and answers from it.

The stages, the index and questions share a thread with an event loop of its own, since neither index nor states may be
used from two. Requests are read and answered by the main thread. Publishing goes past the stages, by a journal of its
own: it waits for the disk alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from infra.as_of import AsOf
from infra.bootstrap import open_embedded
from infra.embedded_memory import EmbeddedMemory
from infra.errors import AnabranchError
from infra.gateway.journals import Appender, JournalThread
from infra.gateway.probes import Probe, unheard
from infra.gateway.renewal import Renewal
from infra.gateway.served import PATIENCE_S
from infra.loop_thread import LoopThread
from infra.memory_api import TurnState
from infra.nights.embedded import successes
from infra.nights.serving import Nightly
from infra.outcomes import turn_states
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Embedder
from streams.journal import Journal
from streams.metrics import ModelCounts
from streams.stopped import Stopped
from streams.topology import FLOW

T = TypeVar("T")

Work = Callable[[EmbeddedMemory], Coroutine[Any, Any, None]]
"""Is done to a memory while it is served."""

_FIRST_S: Final = 1.0
_SOUND_S: Final = 2.0
"""Seconds of work after which what stopped the stages is taken to be over."""
_LONGEST_S: Final = 30.0
"""Seconds until the stages are tried again after they stopped, doubling."""

_log = logging.getLogger(__name__)


@dataclass
class EmbeddedServed:
    """Implements ``Served`` on a home."""

    thread: LoopThread
    memory: EmbeddedMemory
    appender: Appender
    reports: JournalThread
    stages: Stages
    probes: Mapping[str, Probe] = field(init=False)

    def __post_init__(self) -> None:
        self.probes = {
            "log": Probe(lambda: self.reports.ask(_looked_at)),
            "stages": Probe(lambda: self.thread.ask(self.stages.looked_at())),
            "model": Probe(lambda: self.thread.ask(self.memory.plane.recall.embedder.embed_query(unheard("ready")))),
        }

    async def publish(self, space: Space, turns: Sequence[bytes]) -> None:
        """Append turns; they are on the disk when this returns."""
        await self.appender.append(space, turns)

    async def recall(self, space: Space, question: Question, after: str | None) -> Recalled:
        """Answer a question."""
        return await self.thread.ask(self._recall(space, question, after))

    async def _recall(self, space: Space, question: Question, after: str | None) -> Recalled:
        if after is not None:
            await self.memory.ended(space, after, PATIENCE_S)
        return await self.memory.recall(space, question, after)

    async def answer(self, space: Space, asked: Asked, after: str | None) -> Answer:
        """Answer a question with citations."""
        return await self.thread.ask(self._answer(space, asked, after))

    async def _answer(self, space: Space, asked: Asked, after: str | None) -> Answer:
        if after is not None:
            await self.memory.ended(space, after, PATIENCE_S)
        return await self.memory.answer(space, asked, after)

    async def position(self, space: Space, as_of: AsOf) -> int:
        """Return the position that ``as_of`` stands for."""
        return await self.reports.ask(partial(_position, space, as_of))

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle for a turn that is not published."""
        return await self.thread.ask(self.memory.context(space, request, budget))

    async def turn(self, space: Space, turn_id: str) -> TurnState | None:
        """Return what became of a turn."""
        return await self.reports.ask(partial(_turn, space, turn_id))

    async def parts(self) -> Mapping[str, str | None]:
        """Return what answers."""
        reasons = await asyncio.gather(*(probe.look() for probe in self.probes.values()))
        return dict(zip(self.probes, reasons, strict=True))

    async def pending(self) -> int:
        """Return how many events have no outcome yet."""
        return await self.reports.ask(lambda journal: sum(journal.total_lag(step) for step in FLOW))

    async def consolidated(self) -> Mapping[str, datetime]:
        """Return when the last run of consolidation over each tenant began that ended well."""
        return await self.reports.ask(successes)


def _looked_at(journal: Journal) -> None:
    journal.settled(Space("ready/looks"))


def _position(space: Space, as_of: AsOf, journal: Journal) -> int:
    if as_of.turn_id is not None:
        return as_of.position(space, journal.outcomes(space, as_of.turn_id))
    return as_of.position(space, () if as_of.needs is None else journal.rows(space, f"{as_of.needs} "))


def _turn(space: Space, turn_id: str, journal: Journal) -> TurnState | None:
    bodies = [record.body for record in journal.naming(space, turn_id)]
    states = turn_states(bodies, journal.outcomes(space, turn_id), journal.letters(space))
    return next((state for state in states if state.turn_id == turn_id), None)


@dataclass
class Stages:
    """Keeps the stages going: what stops them is logged, told by ``reason``, and tried again."""

    memory: EmbeddedMemory
    reason: str | None = None
    _pause: float = field(default_factory=lambda: _FIRST_S)

    async def work(self) -> None:
        """Process the log until cancelled."""
        while True:
            sound = asyncio.get_running_loop().call_later(_SOUND_S, self._moved)  # with nothing to do there is no step
            try:
                await self.memory.serve(self._moved)
            except (Unavailable, Stopped, AnabranchError) as error:
                self.reason = str(error)
                _log.error("the stages stopped, and start again: %s", error, extra={"event": "stopped"})
            except Exception as error:  # noqa: BLE001 - a bug stops the stages, not those who publish and ask
                self.reason = repr(error)
                _log.exception("the stages stopped by a bug, and start again", extra={"event": "stopped"})
            finally:
                sound.cancel()
            await asyncio.sleep(self._pause)
            self._pause = min(_LONGEST_S, 2 * self._pause)

    def _moved(self) -> None:
        self.reason, self._pause = None, _FIRST_S

    async def looked_at(self) -> None:
        """Return if they go on.

        Raises:
            Unavailable: if they stopped, with the reason.
        """
        if self.reason is not None:
            raise Unavailable(self.reason)


@asynccontextmanager
async def open_served(
    settings: Settings,
    embedder: Embedder | None = None,
    renewal: Renewal | None = None,
    counts: ModelCounts | None = None,
    *,
    nightly: Nightly | None = None,
) -> AsyncIterator[EmbeddedServed]:
    """Own a home and serve it inside the block; ``renewal`` is built beside it, and ``nightly`` done.

    ``counts`` takes what the language model is asked.

    Raises:
        HomeBusy: if another process owns it.
        HomeUnusable: if it cannot be used, or belongs to another version or model.
        ModelMissing: if the model is not there.
    """
    with LoopThread("anabranch-memory") as thread:
        opened: asyncio.Future[Stages] = asyncio.get_running_loop().create_future()
        opening = settings if renewal is None else renewal.given(settings)
        beside: list[Work] = [] if renewal is None else [partial(renewal.work, settings)]
        beside += [] if nightly is None else [nightly.work]
        living = asyncio.create_task(thread.ask(_living(opening, embedder, beside, opened, counts)))
        living.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # the stages end with the block
        waits: set[asyncio.Future[None] | asyncio.Future[Stages]] = {living, opened}
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            await living  # raises why it did not open
        stages = opened.result()
        memory = stages.memory
        with (
            closing(JournalThread(lambda: memory.journal, "anabranch-log")) as writes,
            closing(JournalThread(lambda: memory.journal, "anabranch-rep")) as reads,
        ):
            yield EmbeddedServed(thread, memory, _appender(thread, stages, writes, settings), reads, stages)


def _appender(thread: LoopThread, stages: Stages, journal: JournalThread, settings: Settings) -> Appender:
    def told(spaces: Iterable[Space]) -> None:
        thread.tell(partial(stages.memory.notice, list(spaces)))

    return Appender(journal, settings.gateway_pending, told)


async def _living(
    settings: Settings,
    embedder: Embedder | None,
    beside: Sequence[Work],
    opened: asyncio.Future[Stages],
    counts: ModelCounts | None,
) -> None:
    """Hold the home, in the thread, until cancelled; the main thread hears when it is open."""
    async with open_embedded(settings, embedder, counts) as memory:
        stages = Stages(memory)
        _ = memory.plane  # what is missing is missed now
        opened.get_loop().call_soon_threadsafe(_tell, opened, stages)
        working = [asyncio.create_task(work(memory)) for work in beside]
        try:
            await stages.work()
        finally:
            for one in working:
                one.cancel()
            await asyncio.gather(*working, return_exceptions=True)


def _tell(opened: asyncio.Future[Stages], stages: Stages) -> None:
    if not opened.done():
        opened.set_result(stages)
