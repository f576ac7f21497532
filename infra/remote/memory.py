"""The Kafka mode behind the ``Memory`` interface: events go into the log, workers do the work, reports read topics."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter  # noqa: TID251 - took_ms is a measurement, nothing is decided by it

from infra.answering import Answering, answering
from infra.errors import UsageError
from infra.kafka_clients import quiet
from infra.loop_thread import LoopThread
from infra.memory_api import Progress, SpaceStatus, Sums, TurnState
from infra.outcomes import turn_states
from infra.remote.layout import read_layout
from infra.remote.plane import Plane
from infra.remote.publisher import Publisher
from infra.remote.standing import PATIENCE_S
from infra.remote.topics import Topics
from infra.remote.waiting import Waiting
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.letter import Letter
from schemas.memory import Row
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space
from stages.recall import Standing
from streams.metrics import ModelCounts


@dataclass(slots=True)
class KafkaMemory:
    """Implements ``infra.memory_api.Memory`` on topics and a Qdrant server.

    With ``wait`` each read first waits a while (``infra.remote.standing.PATIENCE_S``) for what its space's log holds;
    what has no outcome then is told: by ``stale`` and ``behind``, as pending turns, as lag. The index and the model
    are opened by the first question.
    """

    thread: LoopThread
    topics: Topics
    publisher: Publisher
    plane: Plane
    wait: bool
    answering: Answering

    async def publish(self, space: Space, payloads: Sequence[bytes], *, own: bool = False) -> None:
        """Append events to the log; all copies have them when this returns."""
        published, taken = self.topics.published, list[int]()
        await self.thread.ask(published.begin(space))
        try:
            await self.publisher.publish(space, payloads, taken, own=own)
        finally:
            await self.thread.ask(published.add(space, taken))

    async def run(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Wait until every event that was published here has its outcome."""
        layout = self.topics.layout
        waiting = Waiting(self.thread, self.topics.published, layout.bootstrap, layout.generation)
        await waiting.done(progress or _silent)

    def sums(self) -> Sums:
        """Return what became of the events that were published here."""
        return self.thread.call(self.topics.published.sums())

    async def recall(self, space: Space, question: Question, after: str | None = None) -> Recalled:
        """Answer a question with cited evidence."""
        standing = await self._standing(space, after)
        began = perf_counter()
        found = await (await self.plane.recall()).recall(space, question, standing)
        return found.model_copy(update={"took_ms": round(1000 * (perf_counter() - began), 3)})

    async def _standing(self, space: Space, after: str | None) -> Standing:
        if after is None:
            now = await self.thread.ask(self.topics.standing(space, wait=self.wait))
            stale = False
        else:
            now = await self.thread.ask(self.topics.standings.passed(space, after, wait=self.wait))
            stale = now.may_hold(after)
        patience = PATIENCE_S if self.wait else 0.0
        lacks = await self.plane.unfollowed(space, now.left.position, patience)
        behind = now.behind + lacks
        if after is None:
            return Standing(stale=behind > 0, behind=behind)
        stale = stale or lacks > 0 or not await self._has_ended(space, after)
        return Standing(stale=stale, behind=behind)

    async def _has_ended(self, space: Space, token: str) -> bool:
        """Say whether an event that no stage has before it was ever there: the index knows turns, the log all."""
        known = await self.plane.holds(space, token)
        return known or await self.thread.ask(self.topics.standings.knows(space, token))

    async def answer(self, space: Space, asked: Asked, after: str | None = None) -> Answer:
        """Answer a question, with citations, from what its recall finds; what that waited for is waited for once."""
        reader, began = await self.plane.recall(), perf_counter()
        first = await self.recall(space, asked.question, after)
        return await self.answering.answer(reader, space, asked, first, began)

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle E_t for a text that is not published."""
        if self.wait:
            await self.thread.ask(self.topics.standings.settled(space))
        return await (await self.plane.recall()).context(space, request, budget)

    def turns(self, space: Space) -> Iterator[TurnState]:
        """Return each distinct turn id of a space, in the order of the log."""
        return turn_states(*self.thread.call(self.topics.told(space, wait=self.wait)))

    def rows(self, space: Space) -> Iterator[Row]:
        """Return every row of memory of a space, ordered by row kind and key."""
        return iter(self.thread.call(self.topics.rows(space, wait=self.wait)))

    def letters(self, space: Space | None = None) -> Iterator[Letter]:
        """Return the letters of a space, or of all; of all, none is waited for."""
        return iter(self.thread.call(self.topics.letters(space, wait=self.wait)))

    def inspect(self, space: Space) -> SpaceStatus:
        """Return where the stages stand in a space."""
        return self.thread.call(self.topics.inspect(space, wait=self.wait))


@asynccontextmanager
async def open_remote(
    settings: Settings, *, wait: bool = True, counts: ModelCounts | None = None
) -> AsyncIterator[KafkaMemory]:
    """Open the memory on a cluster; nothing is processed here, and nobody is kept out.

    ``counts`` takes what the language model is asked for answers.

    Raises:
        UsageError: if the settings name no cluster.
        MissingError: if it does not answer, or lacks topics.
    """
    if settings.kafka is None:
        msg = "no Kafka is named: set ANABRANCH_KAFKA to its servers"
        raise UsageError(msg)
    quiet()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="anabranch-")))
        thread = stack.enter_context(LoopThread())
        topics = Topics.of(await thread.ask(read_layout(settings.kafka, settings.generation)), folder)
        stack.callback(lambda: thread.call(topics.close()))
        publisher = Publisher(topics.layout)
        stack.push_async_callback(publisher.close)
        plane = Plane(settings, thread, topics.states)
        stack.push_async_callback(plane.close)
        answers = answering(settings, ModelCounts() if counts is None else counts, stack)
        yield KafkaMemory(thread, topics, publisher, plane, wait, answers)


def _silent(_progress: Progress) -> None:
    """Show nothing."""
