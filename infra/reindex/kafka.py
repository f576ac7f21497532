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
from infra.nights.derived import take_up
from infra.nights.kafka import open_kafka_ground
from infra.qdrant.folder import Manifest
from infra.qdrant.server import ALIAS
from infra.qdrant.server_collection import ENDS, collection_name
from infra.qdrant.server_roles import DECIDING, FORMER, NEXT, READING, Collection, Roles
from infra.reindex.api import NotReady, Report, Standing, another_is_next
from infra.reindex.collections import must_be_only_next, must_decide, opened, standing_of
from infra.reindex.deriving import Reached, crew, free_generation, make_topics, remove_generation
from infra.reindex.following import FollowedMemory, remove
from infra.reindex.nearness import must_be_near
from infra.remote.layout import read_layout
from infra.settings import Settings
from infra.workers.child import servers_of
from streams.replay import Pace, Reembedding

_LOOK_S: Final = 0.2
"""Seconds between two looks at what has come: what is read next is so much behind what is written."""


@dataclass
class KafkaReindex:
    """Implements ``Reindex`` on topics and a Qdrant server. ``settings`` name the new embedder."""

    settings: Settings

    async def vectors(self, report: Report, *, follow: bool = False) -> None:
        """Bring another index of the same memory to where memory is, and with ``follow`` keep it there."""
        made = make_embedder(self.settings.embedder, threads=self.settings.threads, key=self.settings.embedder_key)
        try:
            role = await self._role(made)
            index = await open_index(self.settings, made, create=role == NEXT, role=role)
            try:
                async with self._copied(index.collection) as memory:
                    await self._follow(memory, Reembedding(memory.snapshot, made, index), report, follow=follow)
            finally:
                await index.close()
        finally:
            made.close()

    async def _role(self, made: Made) -> str:
        """Return what the index of an embedder is: read already, read before and to be gone back to, or next.

        Raises:
            UsageError: if commit writes it, or another one is next.
        """
        wanted = Manifest(generation=self.settings.generation, model=made.model, dimension=made.dimension)
        held = await self._live()
        if held[DECIDING].manifest == wanted:
            msg = f"commit writes an index of {made.model} already: set ANABRANCH_EMBEDDER to another one"
            raise UsageError(msg)
        for role in (READING, FORMER):  # never made next too: what is next may be removed
            if role in held and held[role].manifest == wanted:
                return role
        if NEXT in held and held[NEXT].manifest != wanted:
            raise UsageError(another_is_next(held[NEXT].manifest))
        async with roles_of(self.settings) as roles:
            await self._sweep(roles, but=collection_name(ALIAS, wanted))
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

    async def _live(self) -> dict[str, Collection]:
        """Return the collections that have roles, what commit writes among them."""
        async with roles_of(self.settings) as roles:
            return must_decide(await roles.held())

    async def _sweep(self, roles: Roles, but: str = "") -> list[Collection]:
        """Remove the indexes that no role leads to: who made or replaced one may be killed before it is done."""
        if DECIDING not in await roles.names():  # commit may be about to name its first one
            return []
        found = [one for one in await roles.nameless() if one.name != but]
        for one in found:
            remove(self._snapshot(one.name))
            await roles.remove(one.name)
        return found

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
                if FORMER in held:
                    msg += f"; `anabranch reindex rollback` reads {held[FORMER].manifest} again"
                raise NotReady(msg)
            before = held.get(READING, must_decide(held)[DECIDING])
            await must_be_only_next(roles, held)
            await must_be_near(self.settings, roles, held[NEXT], report)
            await roles.move({READING: held[NEXT].name, FORMER: before.name, NEXT: None})
            await self._sweep(roles)  # what was the former one; a generation's own has the alias of its commit
        return (await self.status())[0]

    def _of(self, generation: int) -> Settings:
        return self.settings.model_copy(update={"generation": generation})

    async def rollback(self, report: Report) -> Standing:
        """Let recall read again what it read before the last switch, once that is near where commit is."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            if FORMER not in held or READING not in held:
                msg = "there is nothing to go back to: nothing was switched, or it was rolled back already"
                raise UsageError(msg)
            if NEXT in held:  # begun since the switch, and there is one place
                raise UsageError(another_is_next(held[NEXT].manifest))
            if held[FORMER].name != must_decide(held)[DECIDING].name:
                await must_be_near(self.settings, roles, held[FORMER], report)
            await roles.move({READING: held[FORMER].name, FORMER: None, NEXT: held[READING].name})
        return (await self.status())[0]

    async def abandon(self) -> Standing:
        """Remove what was built and is not read; nothing of it stays."""
        async with roles_of(self.settings) as roles:
            held = await roles.held()
            swept = await self._sweep(roles)
            if NEXT not in held and swept:
                return await standing_of(roles, "left", swept[0], {}, None)
            if NEXT not in held:
                msg = "there is nothing to abandon: nothing is being built, and what is read or gone back to stays"
                raise UsageError(msg)
            await must_be_only_next(roles, held)
            entry = held[NEXT]
            standing = await standing_of(roles, NEXT, entry, {}, self.settings.generation)
            if entry.ends is not None:
                await asyncio.to_thread(remove_generation, self._of(entry.manifest.generation))
            remove(self._snapshot(entry.name))
            if FORMER not in held and READING in held and held[READING].name == held.get(DECIDING, entry).name:
                await roles.move({READING: None})  # as if nothing had ever been switched
            await roles.remove(entry.name)
        return standing

    async def derive(self, partitions: int | None, report: Report, *, follow: bool = False) -> None:
        """Derive a new generation from the log by workers of its own until it is caught up, or with ``follow`` on.

        Its collection has its role before there is any topic, so that whatever a killed one leaves is found by it.
        """
        entry = self._deriving(await self._live())
        own = self._of(entry.manifest.generation if entry else await asyncio.to_thread(free_generation, self.settings))
        reached = Reached(own)
        try:
            ends = await self._begun(own, reached) if entry is None or entry.ends is None else entry.ends
            await asyncio.to_thread(make_topics, own, partitions)
            async with crew(own) as workers:
                await _beside(workers.tend(), _caught_up(own, reached, ends, report), follow=follow)
        finally:
            await reached.close()

    def _deriving(self, held: Mapping[str, Collection]) -> Collection | None:
        """Return the generation that is being derived, or is read and has its workers from this command, if any.

        Raises:
            UsageError: if something else is next.
        """
        if NEXT in held:
            if held[NEXT].ends is None:
                raise UsageError(another_is_next(held[NEXT].manifest))
            return held[NEXT]
        read = held.get(READING)
        is_ours = read is not None and read.ends is not None and read.manifest.generation != self.settings.generation
        return read if is_ours else None

    async def _begun(self, own: Settings, reached: Reached) -> Sequence[int]:
        """Begin a generation; return where the log ends now, which its collection notes."""
        ends = await reached.log_ends()
        async with roles_of(self.settings) as roles:
            await self._sweep(roles)
        made = make_embedder(own.embedder, threads=own.threads, key=own.embedder_key)
        try:
            index = await open_index(own, made, create=True, role=NEXT, notes={ENDS: ends})
            await index.close()
        finally:
            made.close()
        return ends


async def _caught_up(own: Settings, reached: Reached, ends: Sequence[int], report: Report) -> None:
    """Return when a generation is caught up, and has taken up what it refused of the nights that there were."""
    await reached.caught_up(ends, report)
    async with open_kafka_ground(own, report) as ground:
        await take_up(ground)


async def _beside(tending: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None], *, follow: bool) -> None:
    """Do work while something is tended, and with ``follow`` tend it on; a fault of either ends both."""
    tasks = [asyncio.create_task(tending), asyncio.create_task(work)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[1].done():
            await tasks[1]
        if tasks[0].done() or follow:
            await tasks[0]
        await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
