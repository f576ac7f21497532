"""The lanes of a partition: one a space, as long as something waits there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from schemas.space import Space
from streams.effects import Cut, Inbound
from streams.engine import CUT, Engine
from streams.kafka.intake import Intake
from streams.kafka.producing import RefusedWrite
from streams.kafka.queues import Queue
from streams.kafka.shared import Shared
from streams.stopped import BrokenOrder

LOOKAHEAD: Final = 256
"""Events of a space that a stage prepares for at once."""

IDLE: Final = 256
"""Lanes of a partition whose state stays in memory when they have nothing to do."""


@dataclass
class Lanes:
    """Runs the engine over what waits, space by space; ``begin`` starts work of the partition."""

    number: int
    shared: Shared
    engine: Engine[Any, Any, Any]
    intake: Intake
    begin: Callable[[Callable[[], Awaitable[None]]], asyncio.Task[None]]
    queues: dict[Space, Queue] = field(default_factory=dict)

    def add(self, space: Space, event: Inbound) -> None:
        """Let an event wait, and its lane run."""
        queue = self.queues.setdefault(space, Queue(self.shared.room))
        queue.add(event)
        if queue.task is None:
            queue.task = self.begin(partial(self._lane, space, queue))

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

    def finished(self, cut: Cut) -> None:
        """Note that a space's input is finished so far."""
        queue = self.queues.get(cut.space)
        if queue is not None:
            queue.finish(cut.header.offset)

    @property
    def first(self) -> int | None:
        """The lowest offset that is not finished, if there is one."""
        return min((queue.open[0] for queue in self.queues.values() if queue.open), default=None)

    @property
    def waiting(self) -> int:
        """How many events wait."""
        return sum(len(queue.open) for queue in self.queues.values())

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the lanes that run."""
        return [queue.task for queue in self.queues.values() if queue.task is not None]

    def forget(self) -> None:
        """Forget all that waits; the lanes that run are the caller's to end."""
        for queue in self.queues.values():
            queue.forget()
        self.queues.clear()
