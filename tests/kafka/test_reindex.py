"""Re-embedding the memory of a cluster into another collection of a real Qdrant server, while commit goes on.

What commit does is done by hand here, to topics of a generation of its own: rows, then the index.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from infra.errors import UsageError
from infra.index import open_index, readable, setting_of
from infra.kafka import Broker, Cluster, wanted
from infra.memory_api import Progress
from infra.models import HashEmbedder
from infra.qdrant.process import QdrantProcess
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_roles import NEXT, READING
from infra.reindex import kafka as reindexing
from infra.reindex.api import NotReady
from infra.reindex.kafka import KafkaReindex
from infra.settings import Settings
from infra.workers.producer import producing
from schemas.committed import Committed
from schemas.space import Space
from stages.ports import Filter
from streams.kafka.names import topic_name
from streams.kafka.producing import Producing
from streams.kafka.wire import heartbeat, memory_row
from tests.fakes.index import MemoryIndex
from tests.fakes.qdrant_server import mortal
from tests.fakes.real_home import ALL_KINDS, EVER, SPACE, RealHome, mixed, story

__all__ = ["mortal"]

OTHER = Space("acme/u-2")
SPACES = (SPACE, OTHER)
NEW = "hash:512"
_generations = count(4000)


def silent(_progress: Progress) -> None:
    """Show nothing."""


@dataclass
class Recorded(MemoryIndex):
    """Keeps what commit writes, as it comes."""

    events: list[Committed] = field(default_factory=list)

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        self.events += batch
        await super().write(space, batch)


@dataclass
class Committing:
    """Commit by hand: rows into the topic, then the index."""

    settings: Settings
    index: ServerIndex
    sending: Producing

    @property
    def topic(self) -> str:
        return topic_name("memory", self.settings.generation)

    async def commit(self, events: Sequence[Committed]) -> None:
        for event in events:
            partition = self.sending.partition(self.topic, event.header.space)
            rows = [memory_row(row, self.topic, partition) for row in event.rows]
            await self.sending.send([*rows, heartbeat(self.topic, partition)])
            await self.index.write(event.header.space, [event])

    def reindex(self, embedder: str = NEW) -> KafkaReindex:
        return KafkaReindex(self.settings.model_copy(update={"embedder": embedder}))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Committed]:
    """What commit writes of two spaces, in its order."""
    index = Recorded(HashEmbedder().dimension)
    asyncio.run(_live(RealHome(tmp_path_factory.mktemp("told"), index)))
    return index.events


async def _live(home: RealHome) -> None:
    await home.tell(mixed(), pace=8)
    await home.tell(story(30, OTHER), OTHER, pace=8)


@pytest.fixture
async def committing(broker: Broker, mortal: QdrantProcess, tmp_path: Path) -> AsyncIterator[Committing]:
    number = next(_generations)
    settings = Settings.model_construct(
        home=tmp_path,
        embedder="hash",
        kafka=broker.bootstrap,
        qdrant_url=mortal.address.url,
        qdrant_grpc_port=mortal.address.grpc_port,
        generation=number,
    )
    with Cluster.at(broker.bootstrap) as cluster:
        cluster.apply(wanted(replication=1, partitions=3, generation=number))
    index = await open_index(settings, HashEmbedder(), create=True)
    async with producing(broker.bootstrap, "test", [topic_name("memory", number)]) as sending:
        yield Committing(settings, index, sending)
    await index.close()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the new encoder is asked for."""
    texts: list[str] = []

    class Counting(HashEmbedder):
        async def embed(self, given: Sequence[str]) -> list[bytes]:
            texts.extend(given)
            return await super().embed(given)

    monkeypatch.setattr(reindexing, "make_embedder", lambda choice, threads: Counting(int(choice.partition(":")[2])))
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
    monkeypatch.setattr(reindexing, "_NEAR_S", 0.5)
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
