"""What questions need beside topics: a model and the index. Opened when the first is asked."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from infra.embedders import Made, make_embedder
from infra.index import open_index, readable, setting_of
from infra.loop_thread import LoopThread
from infra.outcomes import event_id_of
from infra.qdrant.server import ServerIndex
from infra.remote.states import FollowedStates
from infra.rerankers import make_reranker
from infra.settings import Settings
from schemas.memory import RecordKind
from schemas.space import Space
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import Embedder, Filter, Found
from stages.recall import Recall
from streams.locate import StateLocalizer
from streams.state import StateRow

_LOOK_S = 0.05

_NEWEST = 64
"""Records of a turn that are looked at for a revision; its newest pieces are among them."""


@dataclass(frozen=True, slots=True)
class ThreadedStates:
    """Implements ``StateStore`` for another loop than the one that reads topics."""

    thread: LoopThread
    states: FollowedStates

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        """Return every stored copy of every part of a space's state."""
        return await self.thread.ask(self.states.load(stage, space))

    async def version(self, stage: str, space: Space) -> int:
        """Return the version of the stored state header (0: none)."""
        return await self.thread.ask(self.states.version(stage, space))


@dataclass(slots=True)
class Plane:
    """The read side on a Qdrant server, which workers have filled."""

    settings: Settings
    thread: LoopThread
    states: FollowedStates
    _recall: Recall | None = None
    _follows: bool = False
    _closing: AsyncExitStack = field(default_factory=AsyncExitStack)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        """Let go of the indexes and of the models."""
        await self._closing.aclose()

    def reopen(self) -> None:
        """Let the next question open what is read then: another one may be since."""
        self._recall = None

    async def recall(self) -> Recall:
        """Return the read side.

        Raises:
            UsageError: if no Qdrant server is named, or its index is of another model.
            MissingError: if the index or the model is not there.
            Unavailable: if the server does not answer.
        """
        async with self._opening:  # a server's first questions come together
            if self._recall is None:
                self._recall = await self._made()
            return self._recall

    async def _made(self) -> Recall:
        """Open what is read; what was opened before something failed is closed and opened again."""
        await self._closing.aclose()
        found = await readable(self.settings)
        embedder, index = await self._opened(self.settings, found.role)
        decider, decided = embedder, index
        if found.deciding is not None:  # states and what they are compared with are of the stages' own model
            self._follows = True
            own = self.settings.model_copy(update={"embedder": setting_of(found.deciding)})
            decider, decided = await self._opened(own, None)
        reranker = make_reranker(self.settings)
        if reranker is not None:
            self._closing.callback(reranker.close)
        return Recall(index, embedder, self._localizer(decided, decider), reranker)

    async def _opened(self, settings: Settings, role: str | None) -> tuple[Made, ServerIndex]:
        embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
        self._closing.callback(embedder.close)
        index = await open_index(settings, embedder, create=False, role=role)
        self._closing.push_async_callback(index.close)
        return embedder, index

    async def unfollowed(self, space: Space, position: int, patience: float) -> int:
        """Wait a while until what recall reads has a space up to a position; return how many events it lacks then.

        It lacks none for long unless a follower writes it that does not run.
        """
        search, loop = (await self.recall()).search, asyncio.get_running_loop()
        if not self._follows:
            return 0
        deadline = loop.time() + patience
        while True:
            lacks = position - await search.watermark(space)
            if lacks <= 0 or loop.time() >= deadline:
                return max(0, lacks)
            await asyncio.sleep(_LOOK_S)

    def _localizer(self, index: ServerIndex, embedder: Embedder) -> StateLocalizer:
        return StateLocalizer(
            normalize=lambda given: Normalize(given, index, self.settings.max_text),
            localize=LocalizeState(index),
            embedder=embedder,
            store=ThreadedStates(self.thread, self.states),
        )

    async def holds(self, space: Space, token: str) -> bool:
        """Say whether memory holds the turn that a causal token names."""
        search = (await self.recall()).search
        event_id, newest = event_id_of(token), await search.watermark(space)
        where = Filter(
            space, newest, frozenset({RecordKind.TURN}), turn_ids=frozenset({event_id, token}), closed_too=True
        )
        return any(_is(token, found) for found in await search.matching(where, _NEWEST))


def _is(token: str, found: Found) -> bool:
    turn_id, detail = found.record.provenance[0], found.record.turn
    return turn_id == token or (detail is not None and f"{turn_id}@{detail.revision}" == token)
