"""A run over the spaces of a tenant: idle ones are drained, then what is twice there is merged, then themes are told.

Each step is published for all spaces, then waited for, and the next one looks afresh. Whatever ends a run in between,
the log has whole decisions or none of them, and another run decides what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from infra.memory_api import Progress
from infra.nights.api import Decider, Ground, Held, Look, Report, RunBusy, Told, Wish
from infra.nights.events import decided, drain, run_id
from infra.nights.sight import Seen, seen
from schemas.consolidation import Decision
from schemas.space import Space
from stages.consolidate import Plan

MERGES: Final = "merges"
THEMES: Final = "themes"
_STEPS: Final = 3
"""Drains, merges, themes: what progress counts for each space."""


def tenants_of(wish: Wish, reached: Mapping[Space, int]) -> list[str]:
    """Return the tenants that a run concerns, in order."""
    return sorted({space.tenant for space in reached if wish.names(space)})


async def consolidate(ground: Ground, wish: Wish, at: datetime, report: Report) -> AsyncIterator[Told]:
    """Consolidate what is asked for, a tenant at a time; give what became of each space.

    Args:
        ground: what it stands on.
        wish: what is asked for.
        at: when the run begins: the time of its events, and what idle spaces are told by.
        report: hears how many steps of how many are done; a space has three.

    Raises:
        RunBusy: if another process consolidates a tenant; the others are done.
        Unavailable: if a model, the index or the broker does not answer; the next run goes on.
    """
    look = await ground.look()
    tenants = tenants_of(wish, look.reached)
    spaces = [space for space in look.reached if wish.names(space)]
    pace = _Pace(report, _STEPS * len(spaces))
    busy: list[RunBusy] = []
    for tenant in tenants:
        try:
            done = await _tenant(ground, wish, tenant, at, pace)
        except RunBusy as error:
            busy.append(error)
            continue
        for told in done:
            yield told
    if busy:
        raise RunBusy("\n".join(map(str, busy)))


async def _tenant(ground: Ground, wish: Wish, tenant: str, at: datetime, pace: _Pace) -> list[Told]:
    if wish.dry:
        return await Night(ground, wish, tenant, at, pace).work()
    async with ground.held(tenant) as held:
        told = await Night(ground, wish, tenant, at, pace, held).work()
        if wish.is_whole:
            await held.succeeded(at)
        return told


@dataclass(slots=True)
class _Pace:
    """Tells how far a run is."""

    report: Report
    total: int
    done: int = 0

    def step(self, count: int = 1) -> None:
        """Count steps that are done."""
        self.done += count
        self.report(Progress(self.done, self.total))


@dataclass(slots=True)
class Night:
    """A run over a tenant. Without ``held`` it publishes nothing."""

    ground: Ground
    wish: Wish
    tenant: str
    at: datetime
    pace: _Pace
    held: Held | None = None
    _told: dict[Space, Told] = field(default_factory=dict)
    _published: bool = False

    async def work(self) -> list[Told]:
        """Do all of it; return what became of each space, in order."""
        await self.ground.caught_up(self._asked(await self.ground.look()))
        look = await self.ground.look()
        look = await self._drained(look)
        decider = await self.ground.decider() if self._told else None
        for step in (MERGES, THEMES):
            if decider is not None:
                look = await self._pass(step, decider, look)
        return list(self._told.values())

    def _asked(self, look: Look) -> list[Space]:
        return sorted(space for space in look.reached if space.tenant == self.tenant and self.wish.names(space))

    def _is_wanted(self, at: Seen) -> bool:
        since = self.wish.since
        return at.newest is not None and (since is None or at.newest >= since)

    async def _drained(self, look: Look) -> Look:
        """See which spaces are wanted, and have the working memory of idle ones routed."""
        run = run_id(self.at, self.tenant, look.reached)
        for space in self._asked(look):
            at = await seen(look.rows(space))
            if not self._is_wanted(at):
                self.pace.step(_STEPS)
                continue
            told = self._told[space] = Told(space, run)
            if at.is_idle(self.at - self.wish.idle):
                told.drained = True
                await self._publish(told, [drain(space, told.run, self.at)])
            self.pace.step()
        return await self._settled(look)

    async def _pass(self, step: str, decider: Decider, look: Look) -> Look:
        """Decide of every space, have it done, and see what was refused."""
        new: dict[Space, tuple[Decision, ...]] = {}
        for space, told in self._told.items():
            plan = await self._plan(step, decider, space, look)
            new[space] = plan.decisions
            _note(told, plan)
            if plan.decisions:
                await self._publish(told, decided(space, told.run, step, plan.decisions, self.at))
            self.pace.step()
        look = await self._settled(look)
        if self.held is not None:
            await self._see(look, new)
        return look

    async def _plan(self, step: str, decider: Decider, space: Space, look: Look) -> Plan:
        await asyncio.sleep(0)  # a home that is served answers between two spaces
        at = await seen(look.rows(space))
        if step == MERGES:
            plan = await decider.merges(space, at.live, self.wish.most)
        else:
            plan = await decider.themes(space, at.live)
        self._told[space].texts |= at.texts_of(plan.decisions)
        return plan

    async def _publish(self, told: Told, events: Iterable[tuple[str, bytes]]) -> None:
        if self.held is None:
            return
        await self.held.must_hold()
        named = list(events)
        await self.ground.publish(told.space, [name for name, _ in named], [body for _, body in named])
        told.events += len(named)
        self._published = True

    async def _settled(self, look: Look) -> Look:
        """Return memory once it holds what was published; the same look where nothing was."""
        if not self._published:
            return look
        self._published = False
        await self.ground.settled()
        return await self.ground.look()

    async def _see(self, look: Look, new: Mapping[Space, tuple[Decision, ...]]) -> None:
        for space, decisions in new.items():
            if decisions:
                told, at = self._told[space], await seen(look.rows(space))
                told.stale += [one for one in decisions if not at.has_come(one, told.run)]


def _note(told: Told, plan: Plan) -> None:
    """Put a plan into the report of its space."""
    told.decisions += plan.decisions
    told.apart += plan.apart
    told.degraded += plan.degraded
    told.left += plan.left
