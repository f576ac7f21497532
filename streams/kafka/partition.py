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
from functools import partial
from typing import Any, Final

from schemas.space import Space
from stages.contract import Unavailable
from streams.effects import Cut, Inbound
from streams.engine import CUT, Engine
from streams.kafka.effects import PartitionEffects, Revoked
from streams.kafka.intake import Intake
from streams.kafka.producing import RefusedWrite
from streams.kafka.quarantine import Quarantining
from streams.kafka.queues import Queue
from streams.kafka.shared import Shared
from streams.kafka.states import States
from streams.kafka.wire import Record, next_row, state_row
from streams.state import StateRow
from streams.stopped import BrokenOrder, Stopped

LOOKAHEAD: Final = 256
"""Events of a space that a stage prepares for at once."""

IDLE: Final = 256
"""Lanes of a partition whose state stays in memory when they have nothing to do."""

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
    queues: dict[Space, Queue] = field(default_factory=dict)
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
        self.engine: Engine[Any, Any, Any] = Engine(
            node=shared.node,
            effects=effects,
            source=self,
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
        tasks = [queue.task for queue in self.queues.values() if queue.task is not None]
        tasks += [*self._ending, *([self.intake.reading] if self.intake.reading is not None else [])]
        reached = self.progress
        for queue in self.queues.values():
            queue.drop()
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
        tasks = (self.intake.reading, *(queue.task for queue in self.queues.values()))
        self._ending = [task for task in tasks if task is not None and task is not asyncio.current_task()]
        for task in self._ending:
            task.cancel()
        for queue in self.queues.values():
            queue.forget()
        self.queues.clear()
        self.intake.forget()

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
        queue = self.queues.setdefault(space, Queue(self.shared.room))
        queue.add(event)
        if queue.task is None and self.stopped is None:
            queue.task = self._begun(partial(self._lane, space, queue))

    # lanes

    async def _lane(self, space: Space, queue: Queue) -> None:
        """Run the lane of a space until nothing waits."""
        loop = asyncio.get_running_loop()
        try:
            while queue.open:
                if queue.must_refill:
                    await self._refill(space, queue)
                await self.shared.pace.wait()
                await self.shared.pause.wait()
                records, begun = queue.take(LOOKAHEAD), loop.time()
                await self._run(space, records, queue)
                took = loop.time() - begun
                self.shared.metrics.batches.add(took)
                self.shared.pace.took(took, -(-len(records) // CUT))
                queue.finish(records[-1].offset)
                self.shared.metrics.handled += len(records)
        finally:
            queue.task = None
            if not queue.open and self.queues.get(space) is queue:
                del self.queues[space]
                if self.engine.lanes > IDLE:
                    self.engine.evict(space)

    async def _run(self, space: Space, records: Sequence[Inbound], queue: Queue) -> None:
        """Run a batch; one that something stops is done one by one, up to what stops it, so that it shows which it is.

        Raises:
            BrokenOrder: if an event contradicts what was seen.
            RefusedWrite: if an event's writes are refused; the message names its offset.
        """
        try:
            await self.engine.run(space, records)
        except (BrokenOrder, RefusedWrite) as error:
            if len(records) == 1 and isinstance(error, RefusedWrite):
                where = f"{self.shared.node.name} {self.number} {records[0].offset}"
                msg = f"{error}. To make it a letter: `anabranch quarantine {where}`"
                raise RefusedWrite(msg) from error
            if len(records) == 1:
                raise
            for record in records:
                await self._run(space, [record], queue)
                queue.finish(record.offset)

    async def _refill(self, space: Space, queue: Queue) -> None:
        async with aclosing(self.intake.of_space(space, queue.open[0], queue.open[-1] + 1)) as records:
            async for record in records:
                if not queue.refill(record):
                    return

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        """Return input of a space behind an offset, up to what has arrived: the engine's ``Source``."""
        self.shared.metrics.holes += 1
        found: list[Inbound] = []
        async with aclosing(self.intake.of_space(space, after + 1, self.expected)) as records:
            async for record in records:
                found.append(record)
                if len(found) == limit:
                    break
        return found

    # how far it is

    def _finished(self, cut: Cut) -> None:
        queue = self.queues.get(cut.space)
        if queue is not None:
            queue.finish(cut.header.offset)

    @property
    def progress(self) -> int:
        """The lowest input offset that is not finished."""
        if self.stopped is not None:
            return self.reached
        return min((queue.open[0] for queue in self.queues.values() if queue.open), default=self.expected)

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
        return sum(len(queue.open) for queue in self.queues.values())

    async def save(self) -> None:
        """Write the partition row, if the partition has come further."""
        if self.ready and self.alive and self.stopped is None:
            await self._save(self.progress)

    async def _save(self, reached: int) -> None:
        if reached > self._saved:
            await self.shared.producing.send([next_row(reached, self.shared.topics.state, self.number)])
            self._saved = reached
