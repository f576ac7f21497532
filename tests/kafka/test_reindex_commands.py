"""Reindexing an installation: five workers, a real broker and a real Qdrant server, while turns come and are asked for.

A generation that is derived has five workers more, so the test takes a minute.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from infra.errors import UsageError
from infra.kafka import Cluster
from infra.memory_api import Progress
from infra.reindex.api import NotReady, Standing
from infra.reindex.kafka import KafkaReindex
from infra.remote import KafkaMemory, open_remote
from infra.settings import Settings, as_environment, child_environment
from schemas.recall import Question
from streams.codec import canonical
from tests.fakes.real_home import SPACE, mixed, said

ASKED = Question(question="Where does Mia live?", k=5)
NEW = "hash:512"


def silent(_progress: Progress) -> None:
    """Show nothing."""


def having(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update=changes)


def left(settings: Settings) -> tuple[list[str], list[str], list[str]]:
    """Topics, collections and aliases."""
    client = QdrantClient(url=str(settings.qdrant_url), check_compatibility=False)
    collections = sorted(one.name for one in client.get_collections().collections)
    aliases = sorted(one.alias_name for one in client.get_aliases().aliases)
    client.close()
    with Cluster.at(str(settings.kafka)) as cluster:
        return sorted(cluster.names()), collections, aliases


def files(home: Path) -> list[str]:
    """What a reindex keeps on this machine."""
    return [path.name for path in home.rglob("*") if path.is_file()]


def rows(memory: KafkaMemory) -> list[str]:
    return [canonical(row) for row in memory.rows(SPACE)]


@asynccontextmanager
async def running(work: KafkaReindex, how: str) -> AsyncIterator[asyncio.Task[None]]:
    started = work.vectors(silent, follow=True) if how == "vectors" else work.derive(3, silent, follow=True)
    task = asyncio.create_task(started)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def told(memory: KafkaMemory, turn_id: str, text: str) -> None:
    """Publish a turn and ask for it at once."""
    await memory.publish(SPACE, [said(turn_id, text, minutes=5000)])
    found = await memory.recall(SPACE, Question(question=text, k=3), after=turn_id)
    assert not found.stale
    assert turn_id in [name for hit in found.hits for name in hit.turn_ids]


async def killed(work: KafkaReindex, how: str, *more: str) -> None:
    """Run the command, and kill it (``kill -9``) as soon as something of it is there."""
    command = [sys.executable, "-m", "infra.cli", "reindex", f"--{how}", *more]
    process = await asyncio.create_subprocess_exec(*command, env=child_environment(as_environment(work.settings)))
    while "next" not in {one.role for one in await work.status()}:
        assert process.returncode is None
        await asyncio.sleep(0.1)
    process.kill()
    await process.wait()


async def switched(work: KafkaReindex) -> Standing:
    """Switch as soon as it is let."""
    while True:
        try:
            return await work.switch(silent)
        except NotReady:
            await asyncio.sleep(0.5)


@pytest.mark.parametrize("how", ["vectors", "derive"])
async def test_a_memory_is_reindexed_while_it_lives(settings: Settings, how: str) -> None:
    work = KafkaReindex(having(settings, embedder=NEW) if how == "vectors" else settings)
    new = having(settings, embedder=NEW) if how == "vectors" else having(settings, generation=2)
    async with open_remote(settings) as memory:
        await memory.publish(SPACE, mixed())
        await memory.run()
        await told(memory, f"{how}-1", f"The lamp of {how} is red.")
        before = left(settings)
        await killed(work, how, *(() if how == "vectors" else ("--partitions", "3")))
        async with running(work, how):
            await told(memory, f"{how}-2", f"The lamp of {how} is green.")
            standing = await switched(work)
            assert (standing.role, standing.generation) == ("read", new.generation)
            assert (await memory.recall(SPACE, ASKED)).hits  # who began before goes on as it was
            with pytest.raises(UsageError, match="ANABRANCH_"):
                async with open_remote(settings) as late:
                    await late.recall(SPACE, ASKED)
            async with open_remote(new) as other:
                await told(other, f"{how}-4", f"The lamp of {how} is white.")
                assert (await other.recall(SPACE, ASKED)).hits
                assert rows(other) == rows(memory)
            await KafkaReindex(new).rollback(silent)  # of a generation too: its workers run, so it is near
        async with open_remote(settings) as again:
            assert (await again.recall(SPACE, ASKED)).hits
        await gone(work)
        assert left(settings) == before
    assert files(settings.home) == []


async def gone(work: KafkaReindex) -> None:
    """Abandon, once the group has noticed that its workers ended."""
    while True:
        try:
            await work.abandon()
        except UsageError:
            await asyncio.sleep(0.5)
        else:
            return
