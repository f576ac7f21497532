"""The embedded runtime: the five stages in one process, SQLite as the log, the index in process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from schemas.space import Space
from stages.contract import WINDOW
from stages.ports import IndexWriter
from streams.collector import seldom
from streams.deaths import Deaths
from streams.effects import Cut, Inbound
from streams.engine import CUT, Engine
from streams.hand import Hand
from streams.journal import Journal
from streams.patience import Patience
from streams.state import StateRow, StateStore
from streams.topology import AnyNode, Topology
from streams.watchdog import Watchdog
from streams.watermarks import Watermarks

LANES = 64
"""Lanes of a stage that run at once: enough to fill the encoder's calls, few enough to stay small."""

LOOKAHEAD = 256
"""Events of a lane taken from the log at once: the first stage embeds them in full calls."""


@dataclass(slots=True)
class _Ports:
    """What one node's engine sees of the journal: its input, its state and its effects.

    A cut is one transaction. For ``commit`` it is two with the index between them: records and outputs first, then
    the index, then state and offset, so that a torn cut is done again and finds its rows there.
    """

    journal: Journal
    node: AnyNode
    index: IndexWriter | None
    done: Callable[[AnyNode, Cut], None]

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        """Return input of the space behind ``after``."""
        return self.journal.read_records(self.node.source.name, space, after, limit)

    async def load(self, stage: str, space: Space) -> list[StateRow]:
        """Return the stored state."""
        return self.journal.state(stage, space)

    async def version(self, stage: str, space: Space) -> int:
        """Return the version of the stored state."""
        return self.journal.version(stage, space)

    async def outputs(self, cut: Cut) -> None:
        """Write outputs now if an index follows; else with the rest of the cut."""
        if self.index is not None:
            with self.journal.transaction():
                self.journal.write_memory(cut)
                self.journal.write_letters(cut)

    async def sink(self, cut: Cut) -> None:
        """Write the index and flush it."""
        if self.index is not None:
            await self.index.write(cut.space, cut.committed)

    async def state(self, cut: Cut) -> None:
        """Nothing yet: state and offset go in one transaction."""

    async def offset(self, cut: Cut) -> None:
        """Write what is left of the cut in one transaction."""
        with self.journal.transaction():
            if self.index is None:
                self.journal.write_records(self.node.target.name, cut)
                self.journal.write_letters(cut)
            self.journal.write_state(cut)
            self.journal.write_offset(cut)
        self.done(self.node, cut)


def first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first fault of a group of groups: it says why the run stopped, the others followed from it."""
    error = errors.exceptions[0]
    return first(error) if isinstance(error, BaseExceptionGroup) else error


class Embedded:
    """Runs a topology over one journal and one index, until nothing is pending or for good."""

    def __init__(self, topology: Topology, journal: Journal, index: IndexWriter, patience: Patience) -> None:
        self.topology = topology
        self.journal = journal
        self.watermarks = Watermarks(journal, topology.last.name)
        self._ready: dict[str, set[Space]] = {node.name: set() for node in topology}
        self._wake: dict[str, asyncio.Event] = {node.name: asyncio.Event() for node in topology}
        self._busy = 0
        self._hand = Hand(journal.path.with_suffix(".hand"))
        self._quiet = asyncio.Event()
        self._on_cut: Callable[[Cut], None] = lambda _cut: None
        self._engines = {node.name: self._engine(node, index, patience) for node in topology}

    @property
    def store(self) -> StateStore:
        """Where the states of the stages are kept."""
        return self._engines[self.topology.first.name].store

    def _engine(self, node: AnyNode, index: IndexWriter, patience: Patience) -> Engine[Any, Any, Any]:
        is_last = node is self.topology.last
        ports = _Ports(self.journal, node, index if is_last else None, self._done)
        return Engine(
            node=node,
            effects=ports,
            source=ports,
            store=ports,
            gate=self.watermarks,
            crashes=self.journal.crashes,
            is_first=node is self.topology.first,
            is_last=is_last,
            patience=patience,
            hand=self._hand,
        )

    def _done(self, node: AnyNode, cut: Cut) -> None:
        """Pass on that a cut is durable: to the next stage, or to the first one that waits for the watermark."""
        after = self.topology.after(node)
        if after is not None:
            self._offer(after.name, cut.space)
        else:
            self.watermarks.rise(cut.space, cut.header.position)
            self._tidy(cut)
        self._on_cut(cut)

    def _tidy(self, cut: Cut) -> None:
        below = cut.header.position - WINDOW
        if below > 0 and below % CUT < cut.events:
            topics = [node.target.name for node in self.topology]
            with self.journal.transaction():
                self.journal.prune(topics, cut.space, below)

    def _offer(self, stage: str, space: Space) -> None:
        self._ready[stage].add(space)
        self._wake[stage].set()

    async def run(self, on_cut: Callable[[Cut], None] | None = None) -> None:
        """Process what the log holds until every event has its outcome; ``on_cut`` is called after each durable step.

        Raises:
            Unavailable: if a model or the index does not answer for as long as patience lasts.
            StageCrashed: if a stage has a bug that this input shows.
        """
        await self._work(on_cut, self._quiet.wait)

    async def serve(self, on_cut: Callable[[Cut], None] | None = None) -> None:
        """Process what the log holds, and what ``notice`` tells of, until cancelled; else as ``run``.

        Raises:
            Unavailable: as ``run``.
            StageCrashed: likewise.
        """
        await self._work(on_cut, asyncio.Event().wait)

    def notice(self, space: Space) -> None:
        """Hear that the log has more events of a space; a run that begins later looks by itself."""
        self._offer(self.topology.first.name, space)
        self._settle()

    async def _work(self, on_cut: Callable[[Cut], None] | None, end: Callable[[], Awaitable[object]]) -> None:
        self._on_cut = on_cut or (lambda _cut: None)
        self._busy = 0  # a lane that was cancelled before it began has not said that it ended
        for node in self.topology:
            for space in self.journal.pending(node):
                self._offer(node.name, space)
        self._settle()
        try:
            deaths = Deaths(self._hand, self.journal.path)
            with self._hand, Watchdog(deaths.hung), seldom():
                deaths.count()
                await self._until(end)
        except BaseExceptionGroup as errors:
            raise first(errors) from None

    async def _until(self, end: Callable[[], Awaitable[object]]) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._stage(node)) for node in self.topology]
            await end()
            for task in tasks:
                task.cancel()

    def _settle(self) -> None:
        """Note whether any lane runs or has work."""
        if self._busy or any(self._ready.values()):
            self._quiet.clear()
        else:
            self._quiet.set()

    async def _stage(self, node: AnyNode) -> None:
        slots = asyncio.Semaphore(LANES)
        running: set[Space] = set()
        async with asyncio.TaskGroup() as lanes:
            while True:
                await self._wake[node.name].wait()
                self._wake[node.name].clear()
                for space in sorted(self._ready[node.name] - running):
                    self._ready[node.name].discard(space)
                    running.add(space)
                    self._busy += 1
                    lanes.create_task(self._lane(node, space, slots, running))

    async def _lane(self, node: AnyNode, space: Space, slots: asyncio.Semaphore, running: set[Space]) -> None:
        """Run one lane until its input is finished."""
        engine = self._engines[node.name]
        try:
            async with slots:
                while records := await engine.source.read(space, await engine.finished(space), LOOKAHEAD):
                    await engine.run(space, records)
                if engine.lanes > LANES:
                    engine.evict(space)
        finally:
            running.discard(space)
            self._busy -= 1
            if space in self._ready[node.name]:
                self._wake[node.name].set()
            self._settle()
