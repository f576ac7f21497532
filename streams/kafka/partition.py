"""One partition of a stage's input, from its assignment to its end.

Faust's committed offset runs ahead of the work, so where to begin is the engine's own knowledge: the partition row of
the state topic. On assignment the states are read, then the input from that row to the offset that Faust begins at;
later every offset that Faust passes over is fetched the same way.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from schemas.space import Space
from stages.contract import Unavailable
from streams.effects import Cut, Inbound
from streams.engine import CUT, Engine
from streams.kafka.effects import PartitionEffects, Revoked
from streams.kafka.producing import RefusedWrite
from streams.kafka.quarantine import Quarantining
from streams.kafka.queues import Queue
from streams.kafka.shared import Shared
from streams.kafka.states import States
from streams.kafka.wire import Record, inbound, next_row, partition_of, space_of, state_row
from streams.state import StateRow
from streams.stopped import BrokenOrder, Stopped

LOOKAHEAD: Final = 256
"""Events of a space that a stage prepares for at once."""

IDLE: Final = 256
"""Lanes of a partition whose state stays in memory when they have nothing to do."""

INBOX: Final = 2048
"""Records that wait here while earlier ones are read again; those beyond are read again in their turn."""

_APART_MS: Final = 1000
"""Times are kept of events that lie so far apart, so that they take little room however many wait."""

KEYLESS: Final = Space("without/key")
"""Where events without a key that names a space are counted; each becomes a letter."""

_log = logging.getLogger(__name__)


@dataclass
class Partition:
    """Runs the lanes of one partition while the assignment lasts.

    ``expected`` is the input offset that comes next; ``seen`` what Faust has passed over; ``stopped`` says why nothing
    more is done here, if so, and ``reached`` how far its input was finished then.
    """

    number: int
    shared: Shared
    expected: int = 0
    stopped: str | None = None
    seen: int = 0
    reached: int = 0
    alive: bool = True
    ready: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    queues: dict[Space, Queue] = field(default_factory=dict)
    _inbox: deque[Record] = field(default_factory=deque)
    _filling: asyncio.Task[None] | None = None
    _saved: int = 0
    _taken: deque[tuple[int, int]] = field(default_factory=deque)
    _ending: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        shared = self.shared
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
        self._filling = asyncio.create_task(self._guarded(self._open))

    async def _open(self) -> None:
        shared = self.shared
        async with aclosing(shared.log.read(shared.topics.state, self.number)) as rows:
            await self.states.fill(rows)
        shared.pause.take(self.states.pause)
        await self._append_again()
        committed = await shared.log.committed(shared.group, shared.source, self.number) or 0
        await self._begin(committed)
        self.expected = self._saved = self.states.next
        self.ready = True
        self.begun.set()
        await self._fill(max(committed, self.seen))

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
        tasks += [*self._ending, *([self._filling] if self._filling is not None else [])]
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
        tasks = (self._filling, *(queue.task for queue in self.queues.values()))
        self._ending = [task for task in tasks if task is not None and task is not asyncio.current_task()]
        for task in self._ending:
            task.cancel()
        for queue in self.queues.values():
            queue.forget()
        self.queues.clear()
        self._inbox.clear()

    # what arrives

    def offer(self, record: Record) -> None:
        """Take a record that Faust has fetched."""
        self.seen = max(self.seen, record.offset + 1)
        if self.stopped is not None:
            return
        if len(self._inbox) < INBOX:
            self._inbox.append(record)
        if self.ready and (self._filling is None or self._filling.done()):
            self._drain()

    def _drain(self) -> None:
        while self._inbox:
            record = self._inbox.popleft()
            if record.offset < self.expected:
                self.shared.metrics.skipped += 1
            elif record.offset == self.expected:
                self._take(record)
            else:
                self._inbox.appendleft(record)
                self.shared.metrics.gaps += 1
                self._filling = asyncio.create_task(self._guarded(partial(self._fill, record.offset)))
                return
        if self.expected < self.seen:  # what did not find room in the inbox
            self._filling = asyncio.create_task(self._guarded(partial(self._fill, self.seen)))

    def catch_up(self, end: int) -> None:
        """Read what is left up to ``end`` from the log: Faust passed over it, and nothing came behind it to show that.

        Marks of transactions, behind the last record, are passed over so too.
        """
        idle = self.ready and self.stopped is None and not self._inbox
        if idle and self.expected < end and (self._filling is None or self._filling.done()):
            self.shared.metrics.gaps += 1
            self._filling = asyncio.create_task(self._guarded(partial(self._fill, end)))

    async def _fill(self, stop: int) -> None:
        """Read the input from ``expected`` to ``stop`` from the log, then go on with what has arrived."""
        shared = self.shared
        if self.expected < stop:
            async with aclosing(shared.log.read(shared.source, self.number, self.expected, stop)) as records:
                async for record in records:
                    await shared.room.wait()
                    self._take(record)
            self.expected = max(self.expected, stop)
        self._filling = None
        self._drain()

    def _take(self, record: Record) -> None:
        self.expected = record.offset + 1
        if record.at is not None and (not self._taken or record.at >= self._taken[-1][1] + _APART_MS):
            self._taken.append((record.offset, record.at))
        event = self._event(record)
        space = space_of(record.key) or KEYLESS
        queue = self.queues.setdefault(space, Queue(self.shared.room))
        queue.add(event)
        if queue.task is None and self.stopped is None:
            queue.task = asyncio.create_task(self._guarded(partial(self._lane, space, queue)))

    def _event(self, record: Record) -> Inbound:
        """Return a record as an event; one that lies where it cannot be believed says so."""
        event, space = inbound(record), space_of(record.key)
        if space is None and self.shared.is_first:
            return replace(event, refused="the record has no key that names a space; publish with the space as key")
        partitions = self.shared.producing.partitions[self.shared.source]
        if space is not None and (right := partition_of(space, partitions)) != record.partition:
            return replace(
                event,
                refused=f"the record of {space!r} lies in partition {record.partition} and belongs in {right}; "
                "let the publisher's partitioner be murmur2",
            )
        return event

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
        async with aclosing(self._of_space(space, queue.open[0], queue.open[-1] + 1)) as records:
            async for record in records:
                if not queue.refill(record):
                    return

    async def _of_space(self, space: Space, start: int, stop: int) -> AsyncGenerator[Inbound, None]:
        async with aclosing(self.shared.repairs.read(self.shared.source, self.number, start, stop)) as records:
            async for record in records:
                if (space_of(record.key) or KEYLESS) == space:
                    yield self._event(record)

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        """Return input of a space behind an offset, up to what has arrived: the engine's ``Source``."""
        self.shared.metrics.holes += 1
        found: list[Inbound] = []
        async with aclosing(self._of_space(space, after + 1, self.expected)) as records:
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
    def oldest(self) -> int | None:
        """When the broker took the oldest event that is not finished (ms since 1970; up to a second too early)."""
        reached = self.progress
        while len(self._taken) > 1 and self._taken[1][0] <= reached:
            self._taken.popleft()
        return self._taken[0][1] if self._taken and reached < max(self.expected, self.seen) else None

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
