"""What arrives for a partition, in order and without gaps: what was passed over is read from the log."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from schemas.space import Space
from streams.effects import Inbound
from streams.kafka.shared import Shared
from streams.kafka.wire import Record, inbound, partition_of, space_of

INBOX: Final = 2048
"""Records that wait here while earlier ones are read again; those beyond are read again in their turn."""

KEYLESS: Final = Space("without/key")
"""Where events without a key that names a space are counted; each becomes a letter."""

_APART_MS: Final = 1000
"""Times are kept of events that lie so far apart, so that they take little room however many wait."""


@dataclass
class Intake:
    """Gives the events of a partition to ``take``, each offset once.

    ``begin`` starts work of the partition, which tells what ends it. ``expected`` is the input offset that comes next,
    ``seen`` what Faust has passed over.
    """

    number: int
    shared: Shared
    take: Callable[[Space, Inbound], None]
    begin: Callable[[Callable[[], Awaitable[None]]], asyncio.Task[None]]
    expected: int = 0
    seen: int = 0
    reading: asyncio.Task[None] | None = None
    _inbox: deque[Record] = field(default_factory=deque)
    _times: deque[tuple[int, int]] = field(default_factory=deque)

    @property
    def is_reading(self) -> bool:
        """Whether earlier input is being read: what arrives meanwhile waits."""
        return self.reading is not None and not self.reading.done()

    def read_first(self, work: Callable[[], Awaitable[None]]) -> None:
        """Let work read what comes before everything else that arrives."""
        self.reading = self.begin(work)

    def offer(self, record: Record) -> None:
        """Keep a record that Faust has fetched until ``go_on``."""
        if len(self._inbox) < INBOX:
            self._inbox.append(record)

    def go_on(self) -> None:
        """Take what has arrived, up to a gap, which is read from the log."""
        while self._inbox:
            record = self._inbox.popleft()
            if record.offset < self.expected:
                self.shared.metrics.skipped += 1
            elif record.offset == self.expected:
                self._take(record)
            else:
                self._inbox.appendleft(record)
                self.shared.metrics.gaps += 1
                self.read_first(partial(self.fill, record.offset))
                return
        if self.expected < self.seen:  # what did not find room in the inbox
            self.read_first(partial(self.fill, self.seen))

    def catch_up(self, end: int) -> None:
        """Read what is left up to ``end`` from the log: Faust passed over it, and nothing came behind it to show that.

        Marks of transactions, behind the last record, are passed over so too.
        """
        if self.expected < end and not self._inbox and not self.is_reading:
            self.shared.metrics.gaps += 1
            self.read_first(partial(self.fill, end))

    async def fill(self, stop: int) -> None:
        """Read the input from ``expected`` to ``stop`` from the log, then go on with what has arrived."""
        shared = self.shared
        if self.expected < stop:
            async with aclosing(shared.log.read(shared.source, self.number, self.expected, stop)) as records:
                async for record in records:
                    await shared.room.wait()
                    self._take(record)
            self.expected = max(self.expected, stop)
        self.reading = None
        self.go_on()

    def forget(self) -> None:
        """Forget what has arrived."""
        self._inbox.clear()

    def _take(self, record: Record) -> None:
        self.expected = record.offset + 1
        if record.at is not None and (not self._times or record.at >= self._times[-1][1] + _APART_MS):
            self._times.append((record.offset, record.at))
        self.take(space_of(record.key) or KEYLESS, self._event(record))

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

    async def of_space(self, space: Space, start: int, stop: int) -> AsyncGenerator[Inbound, None]:
        """Give the input of a space from ``start`` to ``stop`` (not included), read once more."""
        async with aclosing(self.shared.repairs.read(self.shared.source, self.number, start, stop)) as records:
            async for record in records:
                if (space_of(record.key) or KEYLESS) == space:
                    yield self._event(record)

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        """Return input of a space behind an offset, up to what has arrived: the engine's ``Source``."""
        self.shared.metrics.holes += 1
        found: list[Inbound] = []
        async with aclosing(self.of_space(space, after + 1, self.expected)) as records:
            async for record in records:
                found.append(record)
                if len(found) == limit:
                    break
        return found

    def oldest(self, reached: int) -> int | None:
        """Return when the broker took the event at ``reached``, the oldest that is not finished.

        In ms since 1970, up to a second too early; ``None`` if all is finished.
        """
        while len(self._times) > 1 and self._times[1][0] <= reached:
            self._times.popleft()
        return self._times[0][1] if self._times and reached < max(self.expected, self.seen) else None
