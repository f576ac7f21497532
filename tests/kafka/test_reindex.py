"""Re-embedding the memory of a cluster into another collection of a real Qdrant server, while commit goes on.

What commit does is done by hand here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from qdrant_client import AsyncQdrantClient

from infra.errors import UsageError
from infra.index import open_index, readable, setting_of
from infra.models import HashEmbedder
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_roles import NEXT, READING
from infra.reindex import kafka as reindexing
from infra.reindex import nearness
from infra.reindex.api import NotReady
from schemas.committed import Committed
from stages.ports import Filter
from tests.fakes.committing import NEW, OTHER, Committing, committing, silent, told
from tests.fakes.qdrant_server import mortal
from tests.fakes.real_home import ALL_KINDS, EVER, SPACE

__all__ = ["committing", "mortal", "told"]

SPACES = (SPACE, OTHER)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the new encoder is asked for."""
    texts: list[str] = []

    class Counting(HashEmbedder):
        async def embed(self, given: Sequence[str]) -> list[bytes]:
            texts.extend(given)
            return await super().embed(given)

    monkeypatch.setattr(
        reindexing, "make_embedder", lambda choice, threads, key: Counting(int(choice.partition(":")[2]))
    )
    return texts


async def shown(index: ServerIndex) -> list[object]:
    every = [Filter(space, EVER, ALL_KINDS, closed_too=True) for space in SPACES]
    found = [sorted(await index.matching(one, 10_000), key=lambda each: each.record.id) for one in every]
    return [*found, await index.watermarks(SPACES)]


@asynccontextmanager
async def opened(committing: Committing, role: str) -> AsyncIterator[ServerIndex]:
    own = committing.settings.model_copy(update={"embedder": NEW})
    index = await open_index(own, HashEmbedder(512), create=False, role=role)
    yield index
    await index.close()


async def left(committing: Committing) -> tuple[int, list[str]]:
    """How many collections there are, and which aliases."""
    client = AsyncQdrantClient(url=str(committing.settings.qdrant_url), check_compatibility=False)
    collections, aliases = await client.get_collections(), await client.get_aliases()
    await client.close()
    return len(collections.collections), sorted(one.alias_name for one in aliases.aliases)


async def test_another_model_beside_commit_that_goes_on_then_switch_back_and_nothing_left(
    committing: Committing, told: list[Committed], counted: list[str]
) -> None:
    half = len(told) // 2
    await committing.commit(told[:half])
    following = asyncio.create_task(committing.reindex().vectors(silent, follow=True))
    await asyncio.sleep(0.3)
    following.cancel()  # it may be anywhere
    await asyncio.gather(following, return_exceptions=True)
    following = asyncio.create_task(committing.reindex().vectors(silent, follow=True))
    for event in told[half:]:
        await committing.commit([event])
    standing = await committing.reindex().switch(silent)
    assert (standing.role, standing.model, standing.behind) == (READING, HashEmbedder(512).model, 0)
    wanted_texts = sum(len(event.vectors) for event in told)
    assert wanted_texts <= len(counted) <= 2 * wanted_texts  # what was in hand when it was cancelled
    async with opened(committing, READING) as new:
        assert await shown(new) == await shown(committing.index)
        await _finds_by_the_new_vectors(new, told)
    found = await readable(committing.settings)
    assert found.deciding is not None
    assert (found.role, setting_of(found.deciding)) == (READING, "hash")
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert [one.role for one in await committing.reindex().status()] == [READING, "deciding", "former"]
    assert (await committing.reindex().rollback(silent)).model == "hash@2"
    assert (await readable(committing.settings)).role is None
    before = await shown(committing.index)
    await committing.reindex().abandon()
    assert await left(committing) == (1, [f"anabranch.g{committing.settings.generation}"])
    assert list((committing.settings.home / "reindex").iterdir()) == []
    assert await shown(committing.index) == before


async def _finds_by_the_new_vectors(new: ServerIndex, told: list[Committed]) -> None:
    record = next(row for event in told for row in event.rows if row.row == "record" and row.kind == "window")
    (vector,) = await HashEmbedder(512).embed([record.text])
    best = await new.dense(Filter(record.space, EVER, ALL_KINDS, closed_too=True), vector, 1)
    assert [one.record_id for one in best] == [record.id]


async def test_what_is_not_caught_up_or_makes_no_sense_is_refused(
    committing: Committing, told: list[Committed], monkeypatch: pytest.MonkeyPatch
) -> None:
    await committing.commit(told[:10])
    with pytest.raises(NotReady, match="nothing was built"):
        await committing.reindex().switch(silent)
    with pytest.raises(UsageError, match="commit writes"):
        await committing.reindex("hash").vectors(silent)
    for attempt in (committing.reindex().rollback(silent), committing.reindex().abandon()):
        with pytest.raises(UsageError, match="there is nothing"):
            await attempt
    await committing.reindex().vectors(silent)
    await committing.commit(told[10:12])  # and nobody follows
    monkeypatch.setattr(nearness, "_NEAR_S", 0.5)
    with pytest.raises(NotReady, match="2 events behind"):
        await committing.reindex().switch(silent)
    with pytest.raises(UsageError, match="another reindex is under way"):
        await committing.reindex("hash:256").vectors(silent)
    await committing.reindex().vectors(silent)
    async with opened(committing, NEXT) as new:
        assert await shown(new) == await shown(committing.index)


async def test_a_collection_that_lacks_a_record_is_not_switched_to(
    committing: Committing, told: list[Committed]
) -> None:
    await committing.commit(told[:10])
    await committing.reindex().vectors(silent)
    lost = next(row.id for event in told for row in event.rows if row.row == "record")
    client = AsyncQdrantClient(url=str(committing.settings.qdrant_url), check_compatibility=False)
    await client.delete("anabranch-next", points_selector=[lost], wait=True)
    await client.close()
    with pytest.raises(NotReady, match="should hold"):
        await committing.reindex().switch(silent)
    assert (await readable(committing.settings)).role is None
