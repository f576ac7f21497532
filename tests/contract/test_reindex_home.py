"""A home re-embedded and derived anew while it lives: equal memory, no failed recall, no trace left.

A recall that mixed two models would fail: the engine refuses a vector of another length.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from infra.bootstrap import open_memory, open_reindex, reindex_of
from infra.errors import HomeUnusable, UsageError
from infra.memory_api import Memory, Progress
from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex
from infra.reindex.api import NotReady, Reindex
from infra.reindex.pointer import FILE
from infra.settings import Settings
from schemas.recall import Question
from schemas.space import Space
from streams.codec import canonical
from tests.fakes.real_home import SPACE, mixed, story

OTHER = Space("acme/u-2")
NEW = "hash:512"
ASKED = Question(question="Where does Mia live?", k=5)


def settings(home: Path, embedder: str = "hash") -> Settings:
    return Settings(home=home, embedder=embedder)


@asynccontextmanager
async def alive(home: Path, embedder: str = "hash", new: str = NEW) -> AsyncIterator[tuple[Memory, Reindex]]:
    """A memory in use, and a reindex in the same process."""
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_memory(settings(home, embedder)))
        await memory.recall(SPACE, ASKED)
        yield memory, reindex_of(settings(home, new), memory, await stack.enter_async_context(AsyncExitStack()))


async def lived(home: Path) -> list[str]:
    async with open_memory(settings(home)) as memory:
        await memory.publish(SPACE, mixed())
        await memory.publish(OTHER, story(16, OTHER))
        await memory.run()
        return rows(memory)


def rows(memory: Memory) -> list[str]:
    return [canonical(row) for space in (SPACE, OTHER) for row in memory.rows(space)]


async def cited(memory: Memory) -> list[str]:
    found = await memory.recall(OTHER, ASKED)
    assert not found.stale
    assert found.behind == 0
    return [hit.record_id for hit in found.hits]


def silent(_progress: Progress) -> None:
    """Show nothing."""


def files(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()} - {"log.sqlite-wal", "log.sqlite-shm"}


async def roles(home: Path, embedder: str = "hash") -> list[tuple[str, str, int | None]]:
    async with open_reindex(settings(home, embedder)) as work:
        return [(one.role, one.model, one.behind) for one in await work.status()]


async def test_vectors_beside_a_memory_that_goes_on_then_switch_and_back(tmp_path: Path) -> None:
    await lived(tmp_path)
    new = HashEmbedder(512).model
    asked: list[list[str]] = []
    async with alive(tmp_path) as (memory, work):
        await memory.publish(OTHER, story(8, OTHER, first=16))
        building = asyncio.create_task(work.vectors(silent))
        running = asyncio.create_task(memory.run())
        while not (building.done() and running.done()):
            asked.append([hit.record_id for hit in (await memory.recall(OTHER, ASKED)).hits])
            await asyncio.sleep(0.01)
        await asyncio.gather(building, running)
        before = rows(memory)
        standing = await work.switch(silent)
        assert (standing.model, standing.behind, standing.embedder) == (new, 0, NEW)
        first = await cited(memory)
        await memory.publish(OTHER, story(4, OTHER, first=24))
        await memory.run()
        assert await cited(memory)
        assert set(before) < set(rows(memory))
    assert all(asked)
    assert await roles(tmp_path) == [("reading", new, 0), ("deciding", "hash@2", 0), ("former", "hash@2", 0)]
    async with open_memory(settings(tmp_path, NEW)) as memory:  # another process, which now asks for the new one
        assert first
        await memory.publish(OTHER, story(4, OTHER, first=28))
        await memory.run()
        assert await cited(memory)
        after = rows(memory)
    with pytest.raises(HomeUnusable, match=r"hash:512@2.*hash@2.*ANABRANCH_EMBEDDER to hash:512"):
        async with open_memory(settings(tmp_path)) as memory:
            await memory.recall(SPACE, ASKED)
    async with alive(tmp_path, NEW) as (memory, work):
        assert (await work.rollback(silent)).model == "hash@2"
        assert await cited(memory)
        await work.abandon()
        assert rows(memory) == after
    assert files(tmp_path) == {"index", "lock", "log.hand", "log.sqlite"}
    async with open_memory(settings(tmp_path)) as memory:
        assert await cited(memory)


async def test_the_decisions_of_a_memory_that_is_read_by_another_model_are_those_it_would_have_made(
    tmp_path: Path,
) -> None:
    await lived(tmp_path / "plain")
    await lived(tmp_path / "switched")
    async with open_reindex(settings(tmp_path / "switched", NEW)) as work:
        await work.vectors(silent)
        await work.switch(silent)
    both = []
    for home, embedder in (("plain", "hash"), ("switched", NEW)):
        async with open_memory(settings(tmp_path / home, embedder)) as memory:
            await memory.publish(OTHER, story(30, OTHER, first=16))
            await memory.run()
            both.append(rows(memory))
    assert both[0] == both[1]


async def test_a_generation_derived_beside_a_memory_that_goes_on_has_the_same_rows(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with alive(tmp_path, new="hash") as (memory, work):
        building = asyncio.create_task(work.derive(None, silent))
        await memory.publish(OTHER, story(8, OTHER, first=16))
        running = asyncio.create_task(memory.run())
        while not (building.done() and running.done()):
            assert (await memory.recall(OTHER, ASKED)).hits
            await asyncio.sleep(0.01)
        await asyncio.gather(building, running)
        before, sums = rows(memory), memory.sums()
        assert (await work.switch(silent)).generation == 2
        assert rows(memory) == before
        assert memory.sums() == sums
        assert await cited(memory)
        await memory.publish(OTHER, story(4, OTHER, first=24))
        await memory.run()
        after = rows(memory)
    async with open_memory(settings(tmp_path)) as memory:
        assert rows(memory) == after
        assert await cited(memory)
    async with open_reindex(settings(tmp_path)) as work:
        assert [(one.role, one.generation) for one in await work.status()] == [("reading", 2), ("former", 1)]
        assert (await work.rollback(silent)).generation == 1
    async with open_memory(settings(tmp_path)) as memory:  # the first generation finishes what it has missed
        assert rows(memory) == after
    async with open_reindex(settings(tmp_path)) as work:
        await work.abandon()
    assert files(tmp_path) == {"index", "lock", "log.hand", "log.sqlite"}


async def test_a_memory_in_use_goes_back_to_the_generation_before(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with alive(tmp_path, new="hash") as (memory, work):
        await work.derive(None, silent)
        await work.switch(silent)
        await memory.publish(OTHER, story(8, OTHER, first=16))
        await memory.run()
        newer = rows(memory)
        assert (await work.rollback(silent)).generation == 1
        assert rows(memory) == newer
        assert await cited(memory)
        assert (await work.switch(silent)).generation == 2
        assert rows(memory) == newer


async def test_a_third_model_after_the_second_leaves_the_second_to_go_back_to(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with alive(tmp_path) as (_, work):
        await work.vectors(silent)
        await work.switch(silent)
    async with alive(tmp_path, NEW, "hash:256") as (memory, work):
        await work.vectors(silent)
        with pytest.raises(UsageError, match="another reindex is under way"):
            await work.rollback(silent)
        assert (await work.switch(silent)).model == "hash:256@2"
        await memory.publish(OTHER, story(8, OTHER, first=16))
        await memory.run()
        assert await cited(memory)
        assert (await work.rollback(silent)).behind == 0  # it was left behind, and catches up first
        assert await cited(memory)
        await work.abandon()
    assert [one[:2] for one in await roles(tmp_path, NEW)] == [("reading", "hash:512@2"), ("deciding", "hash@2")]
    assert len([name for name in files(tmp_path) if name.startswith("index")]) == len(["index", "of the second"])
    async with open_memory(settings(tmp_path, NEW)) as memory:
        assert await cited(memory)


async def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    await lived(tmp_path)
    async with open_reindex(settings(tmp_path)) as work:
        for attempt in (work.vectors(silent), work.rollback(silent), work.abandon()):
            with pytest.raises(UsageError):
                await attempt
        with pytest.raises(NotReady, match="nothing was built"):
            await work.switch(silent)
        with pytest.raises(UsageError, match="--partitions"):
            await work.derive(3, silent)
    assert not (tmp_path / FILE).exists()
    async with open_reindex(settings(tmp_path, NEW)) as work:
        await work.vectors(silent)
    async with open_reindex(settings(tmp_path, "hash:256")) as work:
        with pytest.raises(UsageError, match="another reindex is under way"):
            await work.vectors(silent)


async def test_an_index_that_lacks_a_record_is_not_switched_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await lived(tmp_path)
    whole = EdgeIndex.write

    async def lossy(self: EdgeIndex, space: Space, batch: Sequence[object]) -> None:
        fewer = [one.model_copy(update={"vectors": one.vectors[1:]}) for one in batch]  # type: ignore[attr-defined]
        await whole(self, space, fewer)

    monkeypatch.setattr(EdgeIndex, "write", lossy)
    async with open_reindex(settings(tmp_path, NEW)) as work:
        await work.vectors(silent)
        with pytest.raises(NotReady, match="abandon"):
            await work.switch(silent)
    assert [role for role, _, _ in await roles(tmp_path, NEW)] == ["reading", "next"]


async def test_a_home_whose_index_another_version_wrote_is_derived_anew_and_read(tmp_path: Path) -> None:
    await lived(tmp_path)
    manifest = tmp_path / "index" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"layout":3', '"layout":2'))
    with pytest.raises(HomeUnusable, match=r"another version wrote it.*reindex --derive"):
        async with open_memory(settings(tmp_path)) as memory:
            await cited(memory)
    async with open_reindex(settings(tmp_path)) as work:
        await work.derive(None, silent)
        assert [one.model for one in await work.status()] == ["another version's", "hash@2"]
        assert (await work.switch(silent)).model == "hash@2"
    async with open_memory(settings(tmp_path)) as memory:
        assert await cited(memory)
