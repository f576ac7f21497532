"""Taking a run back: what its records stand for comes again, in records of its own, and they are retired."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime

from infra.errors import UsageError
from infra.memory_api import Progress
from infra.nights.api import Ground, Look, NoSuchRun, Report, Told, Wish
from infra.nights.events import decided, undo_id
from infra.nights.night import tenants_of
from infra.nights.sight import seen
from schemas.consolidation import Decision
from schemas.space import Space
from stages.consolidate import NoNight, TakenUp, UnknownRun, undone

_STEP = "undo"


async def undo(ground: Ground, wish: Wish, run: str, at: datetime, report: Report) -> AsyncIterator[Told]:
    """Take a run back in the spaces that are asked for; give what became of each that it is taken back in.

    Raises:
        NoSuchRun: if none of its records stands in any of them.
        UsageError: if a later run rests on its records in one of them, or it took another one back itself; nothing of
            the tenant is taken back then.
        RunBusy: if another process consolidates the tenant.
    """
    look = await ground.look()
    found = 0
    for tenant in tenants_of(wish, look.reached):
        async with ground.held(tenant) as held:
            look = await ground.look()
            planned = _planned(wish, run, tenant, look)
            told = [
                Told(space, undo_id(run, tenant, look.reached), decisions=list(planned[space])) for space in planned
            ]
            for number, one in enumerate(told, 1):
                await held.must_hold()
                await _publish(ground, one, run, at)
                report(Progress(number, len(told)))
            if told:
                await ground.settled()
                await _see(told, await ground.look())
        found += len(told)
        for one in told:
            yield one
    if not found:
        msg = f"no record of a run {run!r} stands there: `anabranch consolidate runs` shows the runs"
        raise NoSuchRun(msg)


def _planned(wish: Wish, run: str, tenant: str, look: Look) -> Mapping[Space, tuple[Decision, ...]]:
    spaces = sorted(space for space in look.reached if space.tenant == tenant and wish.names(space))
    planned = {space: _undone(space, run, look) for space in spaces}
    return {space: decisions for space, decisions in planned.items() if decisions}


def _undone(space: Space, run: str, look: Look) -> tuple[Decision, ...]:
    """Return what takes a run back in a space, nothing where it never was.

    Raises:
        UsageError: if a later run has put its records into others, or the run took another one back itself.
    """
    try:
        return undone(look.rows(space), run)
    except UnknownRun:
        return ()
    except (NoNight, TakenUp) as error:
        msg = f"{space}: {error}"
        raise UsageError(msg) from error


async def _publish(ground: Ground, told: Told, run: str, at: datetime) -> None:
    events = list(decided(told.space, told.run, _STEP, told.decisions, at, run))
    await ground.publish(told.space, [name for name, _ in events], [body for _, body in events])
    told.events += len(events)


async def _see(told: list[Told], look: Look) -> None:
    for one in told:
        after = await seen(look.rows(one.space))
        one.texts = after.texts_of(one.decisions)
        one.stale = [decision for decision in one.decisions if not after.has_come(decision, one.run)]
