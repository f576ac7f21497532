"""A stage that does nothing but wait for a model: what more workers of it give."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from infra.bench.kafka.idle import Count, IdleCommit, IdleExtract, IdleLocalize, IdleNormalize, IdleRoute
from schemas.control import Passed
from schemas.extracted import Extracted
from schemas.localized import Localized
from stages.contract import Emit
from streams.topology import Topology, build

AT_ONCE: Final = 8
"""Calls of a worker at once: a model server gives each of its clients so many places."""


@dataclass(frozen=True)
class CallingExtract(IdleExtract):
    """Takes nothing out, after a call of ``seconds``."""

    seconds: float = 0.5
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def decide(self, message: Localized | Passed, state: Count) -> Emit[Extracted | Passed, Count]:
        """Wait for the model, and pass the turn on."""
        async with self.places:
            await asyncio.sleep(self.seconds)
        return await super().decide(message, state)


def calling_topology(seconds: float) -> Topology:
    """Return the flow with stages that do nothing, one of which calls a model."""
    return build(IdleNormalize(), IdleLocalize(), CallingExtract(seconds), IdleRoute(), IdleCommit())
