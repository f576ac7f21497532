"""The embedded mode behind the ``Memory`` interface: one home, one process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter  # noqa: TID251 - took_ms is a measurement, nothing is decided by it
from typing import TYPE_CHECKING, Final, Protocol

from infra.answering import Answering
from infra.memory_api import Progress, SpaceStatus, StageStatus, Sums, TurnState
from infra.outcomes import event_id_of, is_named, open_letters, stage_status, turn_states
from infra.progress import Tracker
from schemas.answer import Answer, Asked
from schemas.letter import Letter
from schemas.memory import Row
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space
from stages.contract import Unavailable
from streams.journal import Journal
from streams.state import load
from streams.topology import FIRST, FLOW, LAST, AnyStep

if TYPE_CHECKING:
    from stages.recall import Recall
    from streams.embedded import Embedded
    from streams.replay import Reembedding

_LOOK_S: Final = 0.02
"""Seconds between looks of who waits for an event; each costs three lookups."""

_AGAIN_S: Final = 5.0
"""Seconds until a follower is tried again whose model or index did not answer."""

_FOLLOW_S: Final = 0.2
"""Seconds between two rounds of a follower, each of which looks at all spaces."""

_log = logging.getLogger(__name__)


class Plane(Protocol):
    """What needs models and the index; built when first used."""

    @property
    def runtime(self) -> Embedded:
        """The stages."""
        ...

    @property
    def recall(self) -> Recall:
        """The read side."""
        ...

    @property
    def follower(self) -> Reembedding | None:
        """What brings the index that is read to where memory is, if commit writes another one."""
        ...


@dataclass(slots=True)
class EmbeddedMemory:
    """Implements ``infra.memory_api.Memory`` on a journal and an index in process.

    ``is_behind`` tells whether the index that is read lacks something of memory, without opening it.
    """

    journal: Journal
    build: Callable[[], Plane]
    is_behind: Callable[[], bool] = lambda: False
    answering: Answering = field(default_factory=Answering)
    _plane: Plane | None = field(default=None)
    _renewed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def plane(self) -> Plane:
        """Models, index, stages and read side."""
        if self._plane is None:
            self._plane = self.build()
        return self._plane

    @property
    def built(self) -> Plane | None:
        """The plane, if it was needed yet."""
        return self._plane

    def live(self, journal: Journal, plane: Plane) -> None:
        """Go on in another generation, from now on."""
        self.journal, self._plane = journal, plane
        self._renewed.set()

    async def publish(self, space: Space, payloads: Sequence[bytes], *, own: bool = False) -> None:
        """Append events to the log; they are on the disk when this returns."""
        self.journal.append(space, payloads, own=own)

    async def run(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Process the log until every event has its outcome; with nothing pending no model is loaded."""
        done: Journal | None = None
        while self.journal is not done and any(self.journal.pending(step) for step in FLOW):
            done = self.journal  # another generation may come to live meanwhile: it has to be there as well
            lags = {step.name: self.journal.total_lag(step) for step in FLOW}
            await self.plane.runtime.run(Tracker(lags, progress or (lambda _: None)).cut)
        if self._plane is not None or self.is_behind():
            await self._follow()

    async def _follow(self) -> None:
        follower = self.plane.follower
        if follower is not None:
            await follower.catch_up()

    async def serve(self, told: Callable[[], None]) -> None:
        """Process the log and what ``notice`` tells of, until cancelled; ``told`` is called at each durable step.

        Where another generation comes to live meanwhile, that is gone on with.
        """
        while True:
            moved = asyncio.Event()
            moved.set()

            def heard(_cut: object, moved: asyncio.Event = moved) -> None:
                moved.set()
                told()

            work = self.plane.runtime.serve(heard), self._keep_up(moved), self._renewed.wait()
            await _first_of(work)
            self._renewed.clear()

    async def _keep_up(self, moved: asyncio.Event) -> None:
        """Bring the index that is read to where memory is, a moment after each step."""
        while True:
            await moved.wait()
            moved.clear()
            try:
                await self._follow()
            except Unavailable as error:  # questions hear that they are stale; the stages need not wait for it
                _log.warning("the index that is read is behind: %s", error, extra={"event": "follower waits"})
                moved.set()
                await asyncio.sleep(_AGAIN_S)
            await asyncio.sleep(_FOLLOW_S)

    def notice(self, spaces: Iterable[Space]) -> None:
        """Hear of spaces to whose log another connection has appended."""
        for space in spaces:
            self.plane.runtime.notice(space)

    async def ended(self, space: Space, token: str, patience: float) -> None:
        """Wait until the event that a causal token names has its outcome, ``patience`` seconds at most.

        The caller sees by itself whether it has; an event that the log does not hold is not waited for.
        """
        offset, clock = self._offset(space, token), asyncio.get_running_loop()
        deadline = clock.time() + patience
        if offset is None:
            return
        while self.journal.committed_offset(space) < offset and clock.time() < deadline:  # noqa: ASYNC110 - a duplicate
            await asyncio.sleep(_LOOK_S)  # or a letter may have no position, and raises no watermark
        while await self._unfollowed(space) and clock.time() < deadline:  # noqa: ASYNC110 - a follower's work
            await asyncio.sleep(_LOOK_S)

    async def _unfollowed(self, space: Space) -> int:
        """Return how many events of memory the index that is read lacks: none where commit itself writes it."""
        if self.plane.follower is None:
            return 0
        return max(0, self.journal.position(LAST.name, space) - await self.plane.recall.search.watermark(space))

    def sums(self) -> Sums:
        """Return where all events of all spaces are."""
        return sum((self._sums(space) for space in self.journal.spaces()), Sums())

    def _sums(self, space: Space) -> Sums:
        entered = self.journal.header(FIRST.name, space).counts
        left = self.journal.header(LAST.name, space).counts
        published = self.journal.logged(space)
        lettered = entered.alone + left.lettered
        pending = published - left.emitted - lettered - entered.duplicates
        return Sums(published, left.emitted, lettered, entered.duplicates, 0, pending)

    async def recall(self, space: Space, question: Question, after: str | None = None) -> Recalled:
        """Answer a question with cited evidence."""
        from stages.recall import Standing  # noqa: PLC0415 - with the plane, which reports do not load

        reader, began = self.plane.recall, perf_counter()  # what a process loads once is no part of an answer's time
        unfollowed = await self._unfollowed(space)
        behind = (0 if self.journal.settled(space) else self._sums(space).pending) + unfollowed
        stale = behind > 0 if after is None else unfollowed > 0 or not self._has_outcome(space, after)
        found = await reader.recall(space, question, Standing(stale=stale, behind=behind))
        return found.model_copy(update={"took_ms": round(1000 * (perf_counter() - began), 3)})

    def _has_outcome(self, space: Space, token: str) -> bool:
        """Say whether the event that a causal token names (a turn id, ``id@revision`` or an event id) has ended."""
        offset = self._offset(space, token)
        return offset is not None and offset <= self.journal.committed_offset(space)

    def _offset(self, space: Space, token: str) -> int | None:
        """Return where the log holds the last event that a causal token names, or ``None``."""
        seen = [record for record in self.journal.naming(space, event_id_of(token)) if is_named(record.body, token)]
        return seen[-1].offset if seen else None

    async def answer(self, space: Space, asked: Asked, after: str | None = None) -> Answer:
        """Answer a question, with citations, from what its recall finds."""
        reader, began = self.plane.recall, perf_counter()
        first = await self.recall(space, asked.question, after)
        return await self.answering.answer(reader, space, asked, first, began)

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle E_t for a text that is not published."""
        return await self.plane.recall.context(space, request, budget)

    def turns(self, space: Space) -> Iterator[TurnState]:
        """Return each distinct turn id of a space, in the order of the log."""
        bodies = (record.body for record in self.journal.whole_log(space))
        return turn_states(bodies, self.journal.rows(space, "outcome "), self.journal.letters(space))

    def rows(self, space: Space) -> Iterator[Row]:
        """Return every row of memory of a space, ordered by row kind and key."""
        return self.journal.rows(space)

    def letters(self, space: Space | None = None) -> Iterator[Letter]:
        """Return the letters of a space, or of all."""
        return self.journal.letters(space)

    def inspect(self, space: Space) -> SpaceStatus:
        """Return where the stages stand in a space."""
        return SpaceStatus(
            space=space,
            position=self.journal.header(FIRST.name, space).position,
            watermark=self.journal.position(LAST.name, space),
            stages=tuple(self._status(step, space) for step in FLOW),
            letters=open_letters(self.journal.rows(space, "outcome "), self.journal.letters(space)),
            sums=self._sums(space),
        )

    def _status(self, step: AnyStep, space: Space) -> StageStatus:
        return stage_status(step.name, load(self.journal.state(step.name, space)), self.journal.lag(step, space))


async def _first_of(work: Iterable[Coroutine[object, object, object]]) -> None:
    """Return when the first of them ends, and raise what ended it; the others are cancelled, and have ended too."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
