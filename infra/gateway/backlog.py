"""How long a space's queue on Kafka is, looked at only where it may be too long: publishing waits for no read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from infra.gateway.served import TooManyPending
from schemas.space import Space

_KNOWN: Final = 100_000
"""Spaces whose counts are kept; they are counted from zero again beyond that."""


@dataclass
class Backlog:
    """Counts what this gateway published to each space since it last looked; ``look`` gives the events without outcome.

    Several gateways count apart, so that together they may let through as many times the limit before each looks.
    """

    limit: int
    look: Callable[[Space], Awaitable[int]]
    _counts: dict[Space, int] = field(default_factory=dict)

    async def take(self, space: Space, turns: int) -> None:
        """Note turns that are about to be published.

        Raises:
            TooManyPending: if the space has too many already.
            Unavailable: if it had to be looked at, and the broker does not answer.
        """
        pending = self._counts.get(space, 0)
        if pending and pending + turns > self.limit:
            pending = await self.look(space)
            self._counts[space] = pending
            if pending and pending + turns > self.limit:
                raise TooManyPending(space, pending, self.limit)
        if len(self._counts) >= _KNOWN:
            self._counts.clear()
        self._counts[space] = self._counts.get(space, 0) + turns
