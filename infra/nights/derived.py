"""A generation that was derived anew: what it refused of the nights in the log is taken up (architecture, section 9).

Decisions name their records by id and text, and other code makes other records. Where no night ever was, none is begun.
"""

from __future__ import annotations

from datetime import UTC, datetime

from infra.memory_api import Progress
from infra.nights.api import Ground, Wish
from infra.nights.night import consolidate
from infra.nights.sight import seen

_now = datetime.now  # noqa: TID251 - when a run begins is the time of its own events


async def take_up(ground: Ground) -> None:
    """Consolidate each space of a new generation in whose log there was a consolidation.

    Raises:
        RunBusy: if another process does it.
        Unavailable: if a model, the index or the broker does not answer; the next call goes on.
    """
    look = await ground.look()
    spaces = frozenset([space for space in look.reached if (await seen(look.rows(space))).decided])
    if spaces:
        async for _ in consolidate(ground, Wish(among=spaces), _now(UTC), _silent):
            pass  # `consolidate runs` tells of it


def _silent(_progress: Progress) -> None:
    """Show nothing."""
