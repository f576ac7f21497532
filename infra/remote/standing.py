"""How far memory is behind the log in a space, and waiting for it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from aiokafka import TopicPartition

from infra.outcomes import event_id_of, is_named
from infra.remote.follower import Follower
from infra.remote.heads import Heads
from infra.remote.reads import Reads
from schemas.space import Space
from streams.effects import Inbound
from streams.state import StateHeader, id_hash
from streams.topology import FIRST, LAST

PATIENCE_S: Final = 10.0
"""How long a read waits for what was pending when it was asked: a turn takes a tenth of a second where workers run."""
_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """A space at one moment: where its first and last stage stand, and its events before the first stage."""

    entered: StateHeader
    left: StateHeader
    outside: tuple[Inbound, ...]

    @property
    def inside(self) -> int:
        """How many events are between the first stage and memory."""
        return max(0, self.entered.position - self.left.position)

    @property
    def behind(self) -> int:
        """How many events have no outcome yet."""
        return len(self.outside) + self.inside

    def may_hold(self, token: str) -> bool:
        """Say whether the event that a causal token names is among those without outcome.

        Of events between the stages the id is known, and not the revision: any of them counts.
        """
        if any(is_named(event.body, token) for event in self.outside):
            return True
        wanted = {id_hash(token), id_hash(event_id_of(token))}
        inside = range(self.left.position + 1, self.entered.position + 1)
        return any(self.entered.id_at(position) in wanted for position in inside)


@dataclass(frozen=True, slots=True)
class Standings:
    """Looks at spaces. All raise ``Unavailable`` if the broker does not answer."""

    heads: Heads
    reads: Reads
    ends: Follower

    async def look(self, space: Space) -> Standing:
        """Return where a space stands now.

        The log is read from where the first stage has finished the whole partition, which is near its end while
        workers keep up.
        """
        await self.heads.catch_up([space], [FIRST.name, LAST.name])
        entered, left = self.heads.head(FIRST.name, space), self.heads.head(LAST.name, space)
        start = max(entered.offset + 1, self.heads.finished(FIRST.name, space))
        log = TopicPartition(self.reads.layout.log, self.reads.layout.partition(self.reads.layout.log, space))
        outside: list[Inbound] = []
        if start < (await self.ends.ends([log]))[log]:
            outside = [event async for event in self.reads.events(space, start)]
        return Standing(entered, left, tuple(outside))

    async def settled(self, space: Space) -> None:
        """Wait a while until what is in the log now has its outcome; the caller sees by itself whether it has."""
        standing = await self.look(space)
        last = standing.outside[-1].offset if standing.outside else standing.entered.offset
        goal: int | None = None
        try:
            async with asyncio.timeout(PATIENCE_S):
                while goal is None or self.heads.head(LAST.name, space).position < goal:
                    entered = self.heads.head(FIRST.name, space)
                    if goal is None and entered.offset >= last:
                        goal = entered.position
                        continue
                    await asyncio.sleep(_LOOK_S)
                    await self.heads.catch_up([space], [FIRST.name, LAST.name])
        except TimeoutError:
            return

    async def passed(self, space: Space, token: str, *, wait: bool) -> Standing:
        """Return where a space stands; with ``wait``, once it no longer holds the token's event, or after a while."""
        standing = await self.look(space)
        clock = asyncio.get_running_loop()
        deadline = clock.time() + (PATIENCE_S if wait else 0.0)
        while standing.may_hold(token) and clock.time() < deadline:
            await asyncio.sleep(_LOOK_S)
            standing = await self.look(space)
        return standing

    async def knows(self, space: Space, token: str) -> bool:
        """Say whether the log holds the event that a token names; it reads the whole partition."""
        async with aclosing(self.reads.events(space)) as events:
            async for event in events:
                if is_named(event.body, token):
                    return True
        return False
