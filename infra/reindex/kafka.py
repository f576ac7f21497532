"""Reindexing the memory of a cluster: a process of its own beside the workers, which go on as they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.embedders import Made, make_embedder
from infra.errors import UsageError
from infra.index import open_index, roles_of
from infra.memory_api import Progress
from infra.qdrant.folder import Manifest
from infra.qdrant.server_collection import ENDS
from infra.qdrant.server_roles import DECIDING, FORMER, NEXT, READING, Collection, Roles
from infra.reindex.api import NotReady, Report, Standing, another_is_next
from infra.reindex.checks import must_hold_the_same
from infra.reindex.collections import lag_of, opened, standing_of
from infra.reindex.deriving import Reached, crew, free_generation, make_topics, remove_generation
from infra.reindex.following import FollowedMemory, remove
from infra.remote.layout import read_layout
from infra.settings import Settings
from infra.workers.child import servers_of
from streams.replay import Pace, Reembedding

_LOOK_S: Final = 0.2
"""Seconds between two looks at what has come: what is read next is so much behind what is written."""

_NEAR_S: Final = 30.0
"""Seconds that a switch waits for the follower to come to where commit was when it was asked for."""


@dataclass
class KafkaReindex:
    """Implements ``Reindex`` on topics and a Qdrant server. ``settings`` name the new embedder."""

    settings: Settings

    async def vectors(self, report: Report, *, follow: bool = False) -> None:
        """Bring another index of the same memory to where memory is, and with ``follow`` keep it there."""
        made = make_embedder(self.settings.embedder, threads=self.settings.threads)
        try:
            role = await self._role(made)
            index = await open_index(self.settings, made, create=role == NEXT, role=role)
            try:
                async with self._copied((await self._held())[role].name) as memory:
                    await self._follow(memory, Reembedding(memory.snapshot, made, index), report, follow=follow)
            finally:
                await index.close()
        finally:
            made.close()

    async def _role(self, made: Made) -> str:
        """Return what the index of an embedder is: read already, or next.

        Raises:
            UsageError: if commit writes it, or another one is next.
        """
        wanted = Manifest(generation=self.settings.generation, model=made.model, dimension=made.dimension)
        held = await self._held()
        if DECIDING not in held:
            msg = "there is no index yet to make another of: `anabranch worker commit` makes the first"
            raise UsageError(msg)
        if held[DECIDING].manifest == wanted:
            msg = f"commit writes an index of {made.model} already: set ANABRANCH_EMBEDDER to another one"
            raise UsageError(msg)
        if READING in held and held[READING].manifest == wanted:
            return READING
        if NEXT in held and held[NEXT].manifest != wanted:
            raise UsageError(another_is_next(held[NEXT].manifest))
        return NEXT

    async def _follow(self, memory: FollowedMemory, following: Reembedding, report: Report, *, follow: bool) -> None:
        def show(pace: Pace) -> None:
            report(Progress(pace.done, pace.total))

        while True:
            await memory.refresh()
            written = await following.catch_up(show)
            if not written:
                if not follow:
                    return
                await asyncio.sleep(_LOOK_S)

    @asynccontextmanager
    async def _copied(self, collection: str) -> AsyncIterator[FollowedMemory]:
        layout = await read_layout(servers_of(self.settings), self.settings.generation)
        memory = FollowedMemory(layout, self._snapshot(collection))
        try:
            yield memory
        finally:
            await memory.close()

    def _snapshot(self, collection: str) -> Path:
        return self.settings.home / "reindex" / f"{collection}.sqlite"

    async def _held(self) -> dict[str, Collection]:
        async with roles_of(self.settings) as roles:
            return await roles.held()

    async def status(self) -> list[Standing]:
        """Return what there is, what is read first."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            if DECIDING not in held:
                return []
            read = held.get(READING, held[DECIDING])
            shown = {READING: read} | ({} if read.name == held[DECIDING].name else {DECIDING: held[DECIDING]})
            shown |= {role: held[role] for role in (FORMER, NEXT) if role in held}
            ends = await opened(roles, held[DECIDING]).every_watermark()
            return [await standing_of(roles, role, one, ends, self.settings.generation) for role, one in shown.items()]

    async def switch(self, report: Report) -> Standing:
        """Let recall read what was built, once it is caught up and its counts are those of what commit writes."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            if NEXT not in held:
                msg = "nothing was built to switch to: run `anabranch reindex --vectors` first"
                raise NotReady(msg)
            if held[NEXT].ends is None:
                await self._near(roles, held, report)
            else:
                await self._derived(held[NEXT], report)
            before = held.get(READING, held[DECIDING])
            await roles.move({READING: held[NEXT].name, FORMER: before.name, NEXT: None})
            old, kept = held.get(FORMER), {before.name, held[DECIDING].name}
            is_own = old is not None and old.manifest.generation == self.settings.generation  # others may have workers
            if old is not None and is_own and old.ends is None and old.name not in kept:
                await roles.remove(old.name)
        return (await self.status())[0]

    async def _derived(self, entry: Collection, report: Report) -> None:
        """Wait until a generation has finished what was in the log when it began, and is less than a window behind."""
        reached = Reached(self._of(entry.manifest.generation))
        try:
            async with asyncio.timeout(_NEAR_S):
                await reached.caught_up(entry.ends or (), report)
        except TimeoutError:
            msg = f"generation {entry.manifest.generation} is not caught up: `anabranch reindex --derive` brings it on"
            raise NotReady(msg) from None
        finally:
            await reached.close()

    def _of(self, generation: int) -> Settings:
        return self.settings.model_copy(update={"generation": generation})

    async def _near(self, roles: Roles, held: Mapping[str, Collection], report: Report) -> None:
        """Wait until the next index is where commit is now, and compare the two there."""
        written, new = opened(roles, held[DECIDING]), opened(roles, held[NEXT])
        goals = await written.every_watermark()
        lag = total = sum(at + 1 for at in goals.values())
        try:
            async with asyncio.timeout(_NEAR_S):
                while (lag := await lag_of(new, goals)) > 0:
                    report(Progress(total - lag, total))
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            msg = f"the new index is {lag} events behind: `anabranch reindex --vectors` brings it on"
            raise NotReady(msg) from None
        await must_hold_the_same(written, new, goals)

    async def rollback(self, report: Report) -> Standing:  # noqa: ARG002 - nothing is waited for
        """Let recall read again what it read before the last switch."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            if FORMER not in held or READING not in held:
                msg = "there is nothing to go back to: nothing was switched, or it was rolled back already"
                raise UsageError(msg)
            if NEXT in held:  # begun since the switch, and there is one place
                raise UsageError(another_is_next(held[NEXT].manifest))
            await roles.move({READING: held[FORMER].name, FORMER: None, NEXT: held[READING].name})
        return (await self.status())[0]

    async def abandon(self) -> Standing:
        """Remove what was built and is not read; nothing of it stays."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            if NEXT not in held:
                msg = "there is nothing to abandon: nothing is being built, and what is read or gone back to stays"
                raise UsageError(msg)
            entry = held[NEXT]
            standing = await standing_of(roles, NEXT, entry, {}, self.settings.generation)
            if entry.ends is not None:
                await asyncio.to_thread(remove_generation, self._of(entry.manifest.generation))
            remove(self._snapshot(entry.name))
            if FORMER not in held and READING in held and held[READING].name == held[DECIDING].name:
                await roles.move({READING: None})  # as if nothing had ever been switched
            await roles.remove(entry.name)
        return standing

    async def derive(self, partitions: int | None, report: Report, *, follow: bool = False) -> None:
        """Derive a new generation from the log by workers of its own until it is caught up, or with ``follow`` on."""
        own = self._of(await self._number())
        await asyncio.to_thread(make_topics, own, partitions)
        reached = Reached(own)
        try:
            ends = await self._begun(own, reached)
            async with crew(own) as workers:
                await _beside(workers.tend(), reached.caught_up(ends, report), follow=follow)
        finally:
            await reached.close()

    async def _number(self) -> int:
        """Return the number of the generation that is being derived, or of a new one.

        Raises:
            UsageError: if something else is next.
        """
        entry = (await self._held()).get(NEXT)
        if entry is None:
            return await asyncio.to_thread(free_generation, self.settings)
        if entry.ends is None:
            raise UsageError(another_is_next(entry.manifest))
        return entry.manifest.generation

    async def _begun(self, own: Settings, reached: Reached) -> Sequence[int]:
        """Return where the log ended when the generation was begun, which its collection notes."""
        entry = (await self._held()).get(NEXT)
        if entry is not None and entry.ends is not None:
            return entry.ends
        ends = await reached.log_ends()
        made = make_embedder(own.embedder, threads=own.threads)
        index = await open_index(own, made, create=True, role=NEXT, notes={ENDS: ends})
        await index.close()
        made.close()
        return ends


async def _beside(tending: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None], *, follow: bool) -> None:
    """Do work while something is tended, and with ``follow`` tend it on; a fault of either ends both."""
    tasks = [asyncio.create_task(tending), asyncio.create_task(work)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done() or follow:
            await tasks[0]
        await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
