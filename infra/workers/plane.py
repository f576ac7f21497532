"""What a worker's stage stands on: models and the index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from infra.errors import UsageError
from infra.models import make_embedder
from infra.qdrant.server import ServerIndex
from infra.settings import Settings
from infra.stages import topology
from stages.ports import IndexWriter
from streams.effects import Gate
from streams.kafka.gate import IndexGate
from streams.kafka.names import FIRST_GENERATION
from streams.topology import Topology


@dataclass(frozen=True, slots=True)
class Plane:
    """The stages with their ports, the sink of the last one, and admission."""

    stages: Topology
    index: IndexWriter
    gate: Gate


@asynccontextmanager
async def plane(settings: Settings, generation: int = FIRST_GENERATION) -> AsyncIterator[Plane]:
    """Give the real stages on the models and the Qdrant server that the settings name.

    Raises:
        UsageError: if they name no server.
        MissingError: if a model is not on this machine, or the server refuses.
        Unavailable: if the server does not answer.
    """
    if settings.qdrant_url is None:
        msg = "the Kafka mode keeps its index on a Qdrant server: name it in ANABRANCH_QDRANT_URL"
        raise UsageError(msg)
    async with AsyncExitStack() as stack:
        embedder = make_embedder(settings.embedder, threads=settings.threads)
        stack.callback(embedder.close)
        key = settings.qdrant_api_key
        index = await ServerIndex.open(
            settings.qdrant_url,
            generation=generation,
            model=embedder.model,
            dimension=embedder.dimension,
            grpc_port=settings.qdrant_grpc_port,
            api_key=None if key is None else key.get_secret_value(),
        )
        stack.push_async_callback(index.close)
        yield Plane(topology(embedder, index, settings.max_text), index, IndexGate(index))
