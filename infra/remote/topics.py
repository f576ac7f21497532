"""All that is read from topics, for the loop of the reading thread."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

from infra.memory_api import SpaceStatus, Sums
from infra.outcomes import open_letters, stage_status
from infra.remote.follower import Follower
from infra.remote.heads import Heads
from infra.remote.layout import Layout
from infra.remote.published import Published
from infra.remote.reads import Reads
from infra.remote.standing import Standing, Standings
from infra.remote.states import FollowedStates
from schemas.letter import Letter
from schemas.memory import Row
from schemas.space import Space
from streams.kafka.log import Log
from streams.state import load
from streams.topology import FLOW


@dataclass(frozen=True, slots=True)
class Topics:
    """What is followed and what is read afresh. With ``wait`` a read first waits a while for what is pending."""

    layout: Layout
    reads: Reads
    heads: Heads
    states: FollowedStates
    ends: Follower
    standings: Standings
    published: Published

    @classmethod
    def of(cls, layout: Layout, folder: Path) -> Self:
        """Return all of it for one cluster; ``folder`` is for files of followed states."""
        reads, heads = Reads(layout, Log(layout.bootstrap, "anabranch-reads")), Heads(layout)
        ends = Follower(layout.bootstrap)
        standings = Standings(heads, reads, ends)
        return cls(layout, reads, heads, FollowedStates(layout, folder), ends, standings, Published(heads, reads, ends))

    async def close(self) -> None:
        """Let go of the connections."""
        await self.heads.close()
        await self.states.close()
        await self.ends.close()

    async def standing(self, space: Space, *, wait: bool) -> Standing:
        """Return where a space stands."""
        await self._settle(space, wait=wait)
        return await self.standings.look(space)

    async def _settle(self, space: Space, *, wait: bool) -> None:
        if wait:
            await self.standings.settled(space)

    async def told(self, space: Space, *, wait: bool) -> tuple[list[bytes], list[Row], list[Letter]]:
        """Return a space's events, outcomes and letters."""
        await self._settle(space, wait=wait)
        bodies = [event.body async for event in self.reads.events(space)]
        return bodies, await self.reads.rows(space, {"outcome"}), await self.reads.letters(space)

    async def rows(self, space: Space, *, wait: bool) -> list[Row]:
        """Return the rows of a space's memory, ordered by row kind and key."""
        await self._settle(space, wait=wait)
        return await self.reads.rows(space)

    async def letters(self, space: Space | None, *, wait: bool) -> list[Letter]:
        """Return the letters of a space, or of all."""
        if space is not None:
            await self._settle(space, wait=wait)
        return await self.reads.letters(space)

    async def inspect(self, space: Space, *, wait: bool) -> SpaceStatus:
        """Return where the stages stand in a space, with the sizes of their states."""
        now = await self.standing(space, wait=wait)
        saved = {step.name: load(await self.states.load(step.name, space)) for step in FLOW}
        positions = [one.header.position for one in saved.values()]
        lags = [
            len(now.outside),
            *(max(0, before - after) for before, after in pairwise(positions)),
        ]
        return SpaceStatus(
            space=space,
            position=now.entered.position,
            watermark=now.left.position,
            stages=tuple(stage_status(name, saved[name], lag) for name, lag in zip(saved, lags, strict=True)),
            letters=open_letters(await self.reads.rows(space, {"outcome"}), await self.reads.letters(space)),
            sums=_sums(now),
        )


def _sums(now: Standing) -> Sums:
    """Return the counts of all events of a space."""
    entered, left = now.entered.counts, now.left.counts
    published, lettered = entered.total + len(now.outside), entered.alone + left.lettered
    pending = published - left.emitted - lettered - entered.duplicates
    return Sums(published, left.emitted, lettered, entered.duplicates, 0, pending)
