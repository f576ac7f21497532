"""A home that is served is consolidated in the process that owns it, once a day at a time of day."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from infra.embedded_memory import EmbeddedMemory
from infra.memory_api import Progress
from infra.nights.api import Wish
from infra.nights.embedded import ServedGround
from infra.nights.night import consolidate

_LONGEST_S: Final = 60.0
"""Seconds between two looks at the clock: it may be set meanwhile, and a machine sleeps."""

_now = datetime.now  # noqa: TID251 - a time of day is what is waited for

_log = logging.getLogger(__name__)


def next_after(now: datetime, at: time) -> datetime:
    """Return the first moment after ``now`` whose time of day in UTC is ``at``."""
    today = datetime.combine(now.astimezone(UTC).date(), at, UTC)
    return today if today > now else today + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Nightly:
    """Consolidates all tenants of a home at a time of day (UTC)."""

    at: time

    async def work(self, memory: EmbeddedMemory) -> None:
        """Do so each day, until cancelled; what goes wrong is logged, and tried again the next day."""
        while True:
            due = next_after(_now(UTC), self.at)
            while (left := (due - _now(UTC)).total_seconds()) > 0:  # noqa: ASYNC110 - a time of day is no event
                await asyncio.sleep(min(left, _LONGEST_S))
            await self.once(memory, due)

    async def once(self, memory: EmbeddedMemory, at: datetime) -> None:
        """Do so now."""
        spaces = retired = stale = 0
        try:
            async for told in consolidate(ServedGround(memory, _silent), Wish(), at, _silent):
                spaces += 1
                stale += len(told.stale)
                retired += sum(len(one.retired) for one in told.decisions if one not in told.stale)
        except Exception:  # noqa: BLE001 - whatever ends a run ends no service; the next one decides what is left
            _log.exception("the consolidation stopped, and is begun again tomorrow", extra={"event": "night stopped"})
            return
        counted = {"event": "night ended", "spaces": spaces, "retired": retired, "stale": stale}
        _log.info("consolidated %d spaces: %d records retired, %d stale", spaces, retired, stale, extra=counted)


def _silent(_progress: Progress) -> None:
    """Show nothing."""
