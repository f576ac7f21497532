"""One partition of a stage's input, from its assignment to its end.

Faust's committed offset runs ahead of the work, so where to begin is the engine's own knowledge: the partition row of
the state topic. On assignment the states are read, then the input from that row to the offset that Faust begins at;
later every offset that Faust passes over is fetched the same way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import InitVar, dataclass, field
from typing import Any

from schemas.space import Space
from stages.contract import Unavailable
from streams.effects import Cut, Inbound
from streams.engine import Engine
from streams.kafka.effects import PartitionEffects, Revoked
from streams.kafka.intake import Intake
from streams.kafka.lanes import Lanes
from streams.kafka.producing import RefusedWrite
from streams.kafka.quarantine import Quarantining
from streams.kafka.shared import Shared
from streams.kafka.states import States
from streams.kafka.wire import Record, next_row, state_row
from streams.state import StateRow
from streams.stopped import BrokenOrder, Stopped

_log = logging.getLogger(__name__)


@dataclass
class Partition:
    """Runs the lanes of one partition while the assignment lasts.

    ``seen`` is what Faust has passed over before; ``stopped`` says why nothing more is done here, if so, and
    ``reached`` how far its input was finished then.
    """

    number: int
    shared: Shared
    seen: InitVar[int] = 0
    stopped: str | None = None
    reached: int = 0
    alive: bool = True
    ready: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    _saved: int = 0
    _ending: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self, seen: int) -> None:
        shared = self.shared
        self.intake = Intake(self.number, shared, self._take, self._begun, seen=seen)
        self.states = States(shared.folder / f"{shared.node.name}-{self.number}.sqlite")
        effects = PartitionEffects(
            shared.producing,
            shared.topics,
            self.number,
            self.states,
            shared.index if shared.is_last else None,
            lambda: self.alive,
            self._finished,
            shared.metrics,
        )
        engine: Engine[Any, Any, Any] = Engine(
            node=shared.node,
            effects=effects,
            source=self.intake,
            store=self.states,
            gate=shared.gate,
            crashes=Quarantining(shared.crashes, self.states),
            is_first=shared.is_first,
            is_last=shared.is_last,
            patience=shared.patience,
            limit=shared.limit,
            hand=shared.hand,
            tracing=shared.tracing,
        )
        self.lanes = Lanes(self.number, shared, engine, self.intake, self._begun)

    # from the assignment to its end

    def open(self) -> None:
        """Begin: read states and what input is not finished, then take what has arrived meanwhile."""
        self.intake.read_first(self._open)

    async def _open(self) -> None:
        shared = self.shared
        async with aclosing(shared.log.read(shared.topics.state, self.number)) as rows:
            await self.states.fill(rows)
        shared.pause.take(self.states.pause)
        await self._append_again()
        committed = await shared.log.committed(shared.group, shared.source, self.number) or 0
        await self._begin(committed)
        self.intake.expected = self._saved = self.states.next
        self.ready = True
        self.begun.set()
        await self.intake.fill(max(committed, self.intake.seen))

    async def _append_again(self) -> None:
        """Write states again of which an old row came last in the topic, before compaction takes what they need."""
        try:
            disturbed = self.states.disturbed()
        except ValueError as error:
            msg = f"{self.shared.topics.state} {self.number} cannot be read: {error}"
            raise BrokenOrder(msg) from error
        for space, rows in disturbed:
            await self.append(space, rows)

    async def append(self, space: Space, rows: Sequence[StateRow]) -> None:
        """Write rows of a space's state once more, behind what lies in the topic."""
        await self.shared.producing.send(state_row(space, row, self.shared.topics.state, self.number) for row in rows)
        self.shared.metrics.folded += len(rows)

    async def _begin(self, committed: int) -> None:
        """Write the first partition row before anything is taken; refuse to begin anew where that row is gone."""
        topic, number = self.shared.topics.state, self.number
        if self.states.rows:
            return
        if committed:
            name = self.shared.node.name
            msg = (
                f"{topic} partition {number} is empty, though {name} had come to offset {committed}: its rows were "
                f"deleted. `anabranch rewind {name}` does its input again from the beginning"
            )
            raise BrokenOrder(msg)
        await self.shared.producing.send([next_row(0, topic, number)])

    async def close(self) -> None:
        """End: drop the lanes, save how far they came, and forget the local states."""
        self.alive = False
        self.begun.set()
        tasks, reached = [*self._ending, *self._running()], self.progress
        self.lanes.forget()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.ready and self.stopped is None:
            with suppress(Unavailable, Stopped):  # it only saves work to whoever has the partition next
                await self._save(reached)
        self.states.close()

    def _begun(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        return asyncio.create_task(self._guarded(work))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run work of the partition; what stops it is told, and everything else is a bug that ends the worker."""
        try:
            await work()
        except (Revoked, asyncio.CancelledError):
            pass
        except (BrokenOrder, RefusedWrite, Unavailable) as error:
            self._stop(str(error))
        except BaseException as error:  # noqa: BLE001 - the worker decides what its end is
            self.shared.fail(error)

    def _stop(self, reason: str) -> None:
        """Do nothing more here: what waits is forgotten and not finished, and the partition row stands still.

        The worker tries the partition again after a while (``Worker.reopen``), reading all of it afresh.
        """
        self.begun.set()
        if self.stopped is not None:
            return
        self.reached, self.stopped = self.progress, reason
        told = {"event": "partition stopped", "partition": self.number}
        _log.error("%s partition %d stops: %s", self.shared.node.name, self.number, reason, extra=told)
        self._ending = [task for task in self._running() if task is not asyncio.current_task()]
        for task in self._ending:
            task.cancel()
        self.lanes.forget()
        self.intake.forget()

    def _running(self) -> list[asyncio.Task[None]]:
        reading = self.intake.reading
        return [*self.lanes.tasks(), *([reading] if reading is not None else [])]

    # what arrives

    def offer(self, record: Record) -> None:
        """Take a record that Faust has fetched."""
        self.intake.seen = max(self.intake.seen, record.offset + 1)
        if self.stopped is not None:
            return
        self.intake.offer(record)
        if self.ready and not self.intake.is_reading:
            self.intake.go_on()

    def catch_up(self, end: int) -> None:
        """Read what is left up to ``end`` from the log."""
        if self.ready and self.stopped is None:
            self.intake.catch_up(end)

    def _take(self, space: Space, event: Inbound) -> None:
        if self.stopped is None:
            self.lanes.add(space, event)

    # how far it is

    def _finished(self, cut: Cut) -> None:
        self.lanes.finished(cut)

    @property
    def progress(self) -> int:
        """The lowest input offset that is not finished."""
        if self.stopped is not None:
            return self.reached
        first = self.lanes.first
        return self.expected if first is None else first

    @property
    def expected(self) -> int:
        """The input offset that comes next."""
        return self.intake.expected

    @property
    def oldest(self) -> int | None:
        """When the broker took the oldest event that is not finished (ms since 1970; up to a second too early)."""
        return self.intake.oldest(self.progress)

    @property
    def waiting(self) -> int:
        """How many events wait here."""
        return self.lanes.waiting

    async def save(self) -> None:
        """Write the partition row, if the partition has come further."""
        if self.ready and self.alive and self.stopped is None:
            await self._save(self.progress)

    async def _save(self, reached: int) -> None:
        if reached > self._saved:
            await self.shared.producing.send([next_row(reached, self.shared.topics.state, self.number)])
            self._saved = reached
