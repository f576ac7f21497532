"""Commit by hand, to topics of a generation of its own on a real broker: rows, then the index on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from infra.index import open_index
from infra.kafka import Broker, Cluster, wanted
from infra.memory_api import Progress
from infra.models import HashEmbedder
from infra.qdrant.process import QdrantProcess
from infra.qdrant.server import ServerIndex
from infra.reindex.kafka import KafkaReindex
from infra.settings import Settings
from infra.workers.producer import producing
from schemas.committed import Committed
from schemas.space import Space
from streams.kafka.names import topic_name
from streams.kafka.producing import Producing
from streams.kafka.wire import heartbeat, memory_row
from tests.fakes.index import MemoryIndex
from tests.fakes.real_home import RealHome, mixed, story

OTHER = Space("acme/u-2")
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
