"""A home as what a run stands on: alone in its process, or beside the gateway that serves it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Final

from infra.embedded_memory import EmbeddedMemory
from infra.embedded_plane import EmbeddedPlane
from infra.nights.api import Decider, Held, Look, Report
from infra.nights.deciding import decider_of
from infra.reindex.rows import JournalRows
from schemas.memory import Row
from schemas.space import Space
from stages.ports import Embedder, LanguageModel
from streams.journal import Journal

SUCCESS: Final = "consolidated "
"""What a journal notes a tenant's last run under that ended well, with the time when it began."""

_KINDS: Final = ("changed ", "closed ", "left ", "outcome ", "record ")
"""Rows that a run looks at: all but edges, which are half of them."""

_LOOK_S: Final = 0.05

Make = Callable[[Embedder, LanguageModel | None], Decider]


@dataclass(frozen=True, slots=True)
class _Home:
    """Implements ``Held``: a home is one process's, and that one runs one thing at a time."""

    journal: Journal
    tenant: str

    async def must_hold(self) -> None:
        """Return: the lock of the home is held as long as it is open."""

    async def succeeded(self, at: datetime) -> None:
        """Note it in the journal."""
        self.journal.note(SUCCESS + self.tenant, at.isoformat())


def successes(journal: Journal) -> dict[str, datetime]:
    """Return when the last run over each tenant began that ended well."""
    return {tenant: datetime.fromisoformat(at) for tenant, at in journal.noted_under(SUCCESS).items()}


@dataclass(slots=True)
class EmbeddedGround:
    """Implements ``Ground`` on an open memory whose stages run when it is told to run. ``report`` hears of that."""

    memory: EmbeddedMemory
    report: Report
    make: Make = decider_of

    async def look(self) -> Look:
        """Return memory as it is now."""
        return Look(JournalRows(self.memory.journal).reached(), self._rows)

    def _rows(self, space: Space) -> Iterable[Row]:
        return chain.from_iterable([self.memory.journal.rows_now(space, kind) for kind in _KINDS])

    async def caught_up(self, spaces: Sequence[Space]) -> None:
        """Return: whoever opened the memory has processed what was pending, or it is served."""

    async def publish(self, space: Space, event_ids: Sequence[str], payloads: Sequence[bytes]) -> None:  # noqa: ARG002 - for who waits by them
        """Append control events; they are on the disk when this returns."""
        await self.memory.publish(space, payloads, own=True)

    async def settled(self) -> None:
        """Process what was published, and all that is pending beside it."""
        await self.memory.run(self.report)

    @asynccontextmanager
    async def held(self, tenant: str) -> AsyncIterator[Held]:
        """Give the tenant: whoever has the home open has all of its tenants."""
        yield _Home(self.memory.journal, tenant)

    async def decider(self) -> Decider:
        """Return what decides, with the models of the home's stages."""
        plane = self.memory.plane
        if not isinstance(plane, EmbeddedPlane):
            msg = "a memory without its stages' models cannot be consolidated"
            raise TypeError(msg)
        return self.make(plane.decider, plane.language)


@dataclass(slots=True)
class ServedGround(EmbeddedGround):
    """The same beside stages that run all the time: they hear of what is published, and it is waited for."""

    _waits: dict[Space, int] = field(default_factory=dict)

    async def publish(self, space: Space, event_ids: Sequence[str], payloads: Sequence[bytes]) -> None:
        """Append control events, and tell the stages."""
        await self.memory.publish(space, payloads, own=True)
        self._waits[space] = self.memory.journal.naming(space, event_ids[-1])[-1].offset
        self.memory.notice([space])

    async def settled(self) -> None:
        """Wait until the stages have done what was published."""
        while self._waits:
            for space, offset in list(self._waits.items()):
                if self.memory.journal.committed_offset(space) >= offset:
                    del self._waits[space]
            await asyncio.sleep(_LOOK_S)
