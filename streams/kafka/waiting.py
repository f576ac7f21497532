"""What the lanes of a worker wait for, so that it can be told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from stages.contract import Unavailable
from streams.patience import Patience

T = TypeVar("T")


@dataclass(slots=True)
class Waits:
    """Who waits for something that does not answer, and what it says: told by ``TellingPatience``."""

    reasons: dict[str, str] = field(default_factory=dict)

    def told(self, limit: int = 20) -> list[str]:
        """Return up to ``limit`` of them as text."""
        return [f"{who}: {reason}" for who, reason in list(self.reasons.items())[:limit]]


@dataclass(frozen=True, slots=True)
class TellingPatience(Patience):
    """Patience that notes who waits while it does."""

    waits: Waits = field(default_factory=Waits)

    async def ask(
        self, who: str, call: Callable[[], Awaitable[T]], before_waiting: Callable[[], Awaitable[None]] | None = None
    ) -> T:
        """Return what ``call`` gives, as ``Patience`` does; nearly always there is nothing to tell."""
        failed: list[Unavailable] = []
        try:
            return await call()
        except Unavailable as reason:
            failed.append(reason)

        async def noting() -> T:
            try:
                if failed:
                    raise failed.pop()
                return await call()
            except Unavailable as reason:
                self.waits.reasons[who] = str(reason)
                raise

        try:
            return await Patience.ask(self, who, noting, before_waiting)
        finally:
            self.waits.reasons.pop(who, None)


@dataclass(slots=True)
class Pause:
    """Whether an operator has paused the stage. Of the rows that say so the newest counts, wherever it lay."""

    paused: bool = False
    _said: tuple[int, bool] = (0, False)
    _going: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._going.set()

    def take(self, said: tuple[int, bool]) -> bool:
        """Take what a row says, its time (ms) first; return whether that changes anything."""
        if said <= self._said:
            return False
        self._said, before, self.paused = said, self.paused, said[1]
        (self._going.clear if self.paused else self._going.set)()
        return self.paused != before

    async def wait(self) -> None:
        """Wait until the stage is not paused."""
        await self._going.wait()
