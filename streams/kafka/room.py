"""How much of what waits is held in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

WORKER = 48 * 1024 * 1024
"""Bytes of waiting events of a worker above which it takes no more from Faust: 64 MB with what is on the way."""

LANE = 1024
"""Waiting events of one space in memory. Those of an import beyond it are read again from the log when they are due."""


@dataclass(slots=True)
class Room:
    """Counts bytes of waiting events; who brings more waits for room."""

    limit: int = WORKER
    used: int = 0
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, size: int) -> None:
        """Note that ``size`` bytes more wait."""
        self.used += size

    def give(self, size: int) -> None:
        """Note that ``size`` bytes wait no more."""
        self.used -= size
        if self.used < self.limit:
            self._free.set()

    async def wait(self) -> None:
        """Wait until there is room."""
        while self.used >= self.limit:
            self._free.clear()
            await self._free.wait()
