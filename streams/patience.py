"""Waiting for what does not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from stages.contract import Unavailable

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to ask again what does not answer: ``tries`` in all (``None``: for ever), pauses doubling (s)."""

    tries: int | None = None
    first: float = 0.2
    longest: float = 30.0

    async def ask(
        self, who: str, call: Callable[[], Awaitable[T]], before_waiting: Callable[[], Awaitable[None]] | None = None
    ) -> T:
        """Return what ``call`` gives, asking again while it is unavailable; ``before_waiting`` runs before each pause.

        Raises:
            Unavailable: if it still is after the last try.
        """
        attempt = 0
        while True:
            try:
                return await call()
            except Unavailable as reason:
                attempt += 1
                if self.tries is not None and attempt >= self.tries:
                    raise
                _log.warning("%s waits: %s", who, reason)
            if before_waiting is not None:
                await before_waiting()
            await asyncio.sleep(min(self.longest, self.first * 2.0 ** min(attempt - 1, 16)))
