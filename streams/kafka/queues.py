"""What waits in a partition, space by space, and how far its input is finished."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from streams.effects import Inbound
from streams.kafka.room import LANE, Room


def _size(record: Inbound) -> int:
    return 400 + len(record.body)


@dataclass(slots=True)
class Queue:
    """The waiting events of one space, in order.

    ``open`` holds the offsets of all that is not finished; ``records`` those of them that are in memory: the first
    ones. Beyond ``LANE`` an event is known by its offset only.
    """

    room: Room
    open: deque[int] = field(default_factory=deque)
    records: deque[Inbound] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None
    _behind: bool = False

    def add(self, record: Inbound) -> None:
        """Take an event that has arrived."""
        self.open.append(record.offset)
        self._behind = self._behind or len(self.records) >= LANE
        if not self._behind:
            self._hold(record)

    def _hold(self, record: Inbound) -> None:
        self.records.append(record)
        self.room.take(_size(record))

    def refill(self, record: Inbound) -> bool:
        """Take an event that was read again; return whether more are wanted."""
        self._hold(record)
        self._behind = record.offset != self.open[-1]
        return self._behind and len(self.records) < LANE

    @property
    def must_refill(self) -> bool:
        """Whether nothing is left in memory, and more is due."""
        return bool(self.open) and not self.records

    def take(self, limit: int) -> list[Inbound]:
        """Take up to ``limit`` events out of memory; they stay open until they are finished."""
        taken = [self.records.popleft() for _ in range(min(limit, len(self.records)))]
        self.room.give(sum(map(_size, taken)))
        return taken

    def finish(self, offset: int) -> None:
        """Note that everything up to ``offset`` is finished."""
        while self.open and self.open[0] <= offset:
            self.open.popleft()

    def forget(self) -> None:
        """Forget everything; the lane's task is the caller's to end."""
        self.room.give(sum(map(_size, self.records)))
        self.records.clear()
        self.open.clear()
