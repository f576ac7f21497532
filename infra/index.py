"""The index of the Kafka mode, as the settings name it."""

from __future__ import annotations

from infra.errors import UsageError
from infra.qdrant.server import ServerIndex
from infra.settings import Settings
from stages.ports import Embedder
from streams.kafka.names import FIRST_GENERATION


def server_named(settings: Settings) -> str:
    """Return the server's address.

    Raises:
        UsageError: if the settings name none.
    """
    if settings.qdrant_url is None:
        msg = "the Kafka mode keeps its index on a Qdrant server: name it in ANABRANCH_QDRANT_URL"
        raise UsageError(msg)
    return settings.qdrant_url


async def open_index(
    settings: Settings, embedder: Embedder, *, create: bool, generation: int = FIRST_GENERATION
) -> ServerIndex:
    """Open the index that workers write and questions read; with ``create`` it is made if it is not there.

    Raises:
        UsageError: if no server is named, or its index is of another model.
        MissingError: if it has none, or refuses.
        Unavailable: if it does not answer.
    """
    key = settings.qdrant_api_key
    return await ServerIndex.open(
        server_named(settings),
        generation=generation,
        model=embedder.model,
        dimension=embedder.dimension,
        create=create,
        grpc_port=settings.qdrant_grpc_port,
        api_key=None if key is None else key.get_secret_value(),
    )
