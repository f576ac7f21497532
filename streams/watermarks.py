"""How far memory is complete, and who waits for it: admission in the embedded runtime."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from schemas.space import Space
from streams.journal import Journal


@dataclass(slots=True)
class Watermarks:
    """Implements the engine's ``Gate``: the watermark of each space, as the stage ``last`` has made it durable."""

    journal: Journal
    last: str
    _known: dict[Space, int] = field(default_factory=dict)
    _waiting: dict[Space, asyncio.Event] = field(default_factory=dict)

    def watermark(self, space: Space) -> int:
        """Return the last committed position of the space (-1: none)."""
        if space not in self._known:
            self._known[space] = self.journal.position(self.last, space)
        return self._known[space]

    async def look(self, space: Space) -> int:
        """Return the same: what is known here is what is so."""
        return self.watermark(space)

    def rise(self, space: Space, position: int) -> None:
        """Note that the space is committed up to ``position`` and wake who waits for it."""
        self._known[space] = position
        waiting = self._waiting.pop(space, None)
        if waiting is not None:
            waiting.set()

    async def reached(self, space: Space, position: int) -> None:
        """Wait until the space is committed up to ``position``."""
        while self.watermark(space) < position:
            await self._waiting.setdefault(space, asyncio.Event()).wait()
