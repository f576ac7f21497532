"""The turns of a space that wait to be sent together."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from anabranch_client.answers import Accepted
from anabranch_client.errors import WrongUse
from anabranch_client.parts import MAX_BYTES, MAX_TURNS, Encoded, parts

LINGER_MS: Final = 20.0
MAX_WAITING_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What goes in a request, how long a turn waits for others, and how many bytes may wait in all.

    Raises:
        WrongUse: if one can't be.
    """

    max_turns: int = MAX_TURNS
    max_bytes: int = MAX_BYTES
    linger_ms: float = LINGER_MS
    max_waiting_bytes: int = MAX_WAITING_BYTES

    def __post_init__(self) -> None:
        """Check the limits."""
        if min(self.max_turns, self.max_bytes, self.max_waiting_bytes) < 1 or self.linger_ms < 0:
            msg = f"max_turns, max_bytes and max_waiting_bytes are at least 1 and linger_ms at least 0; got {self}"
            raise WrongUse(msg)


@dataclass(slots=True)
class Waiting:
    """A turn, what tells of its end, and since when it waits (seconds of the loop's clock)."""

    turn: Encoded
    future: asyncio.Future[Accepted]
    since: float

    def end(self, outcome: Accepted | Exception) -> None:
        """Tell; nobody listens where the caller has cancelled the future."""
        if self.future.done():
            return
        if isinstance(outcome, Accepted):
            self.future.set_result(outcome)
        else:
            self.future.set_exception(outcome)


@dataclass
class Lane:
    """Turns of a space in their order, and those of them that are in flight."""

    space: str
    limits: BatchLimits
    waiting: deque[Waiting] = field(default_factory=deque)
    in_flight: list[Waiting] = field(default_factory=list)
    _size: int = 0
    _is_hurried: bool = False
    _is_ready: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, one: Waiting) -> None:
        """Take a turn."""
        self.waiting.append(one)
        self._size += len(one.turn.payload)
        self._look()

    def hurry(self) -> None:
        """Let what waits now not wait for others."""
        self._is_hurried = bool(self.waiting)
        self._look()

    async def gathered(self) -> None:
        """Return when a request is full, there is haste, or the oldest turn has waited for long enough."""
        try:
            async with asyncio.timeout_at(self.waiting[0].since + self.limits.linger_ms / 1000):
                await self._is_ready.wait()
        except TimeoutError:
            pass

    def take(self) -> list[Waiting]:
        """Take what goes in the next request."""
        turns = (one.turn for one in self.waiting)
        part = next(parts(turns, self.limits.max_turns, self.limits.max_bytes))
        self.in_flight = [self.waiting.popleft() for _ in part]
        self._size -= sum(len(one.payload) for one in part)
        self._is_hurried = self._is_hurried and bool(self.waiting)
        self._look()
        return self.in_flight

    def landed(self) -> None:
        """Forget what was in flight."""
        self.in_flight = []

    def drop(self) -> None:
        """Forget all that is left."""
        self.in_flight, self._size = [], 0
        self.waiting.clear()
        self._look()

    def _look(self) -> None:
        is_full = len(self.waiting) >= self.limits.max_turns or self._size >= self.limits.max_bytes
        if is_full or self._is_hurried:
            self._is_ready.set()
        else:
            self._is_ready.clear()
