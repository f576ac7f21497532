"""How many bytes may wait: whoever brings more waits, and those who came first go first."""

from __future__ import annotations

import asyncio
from threading import Condition


class Room:
    """Room for ``limit`` bytes; what is larger than all of it goes in alone."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._turnstile = asyncio.Lock()
        self._freed = asyncio.Event()

    async def take(self, size: int) -> None:
        """Return when there is room."""
        async with self._turnstile:
            while self._used and self._used + size > self._limit:
                self._freed.clear()
                await self._freed.wait()
            self._used += size

    def note(self, size: int) -> None:
        """Take without waiting, for what has waited elsewhere."""
        self._used += size

    def give(self, size: int) -> None:
        """Give room back."""
        self._used -= size
        self._freed.set()


class ThreadRoom:
    """The same for threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._freed = Condition()

    def take(self, size: int) -> None:
        """Return when there is room."""
        with self._freed:
            self._freed.wait_for(lambda: not self._used or self._used + size <= self._limit)
            self._used += size

    def give(self, size: int) -> None:
        """Give room back."""
        with self._freed:
            self._used -= size
            self._freed.notify_all()
