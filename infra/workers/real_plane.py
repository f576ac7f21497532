"""The plane of real workers: the stages on the models and the index that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from infra.embedders import make_embedder
from infra.index import open_index, server_named
from infra.language_models import kept_language_model
from infra.settings import Settings
from infra.stages import topology_of
from infra.workers.child import servers_of
from infra.workers.plane import Plane
from streams.kafka.gate import IndexGate
from streams.metrics import ModelCounts


@asynccontextmanager
async def real_plane(settings: Settings) -> AsyncIterator[Plane]:
    """Give the real stages on the models and the Qdrant server that the settings name.

    Raises:
        UsageError: if they name no server.
        MissingError: if a model is not on this machine, or the server refuses.
        Unavailable: if the server does not answer.
    """
    server_named(settings)  # told before a model is loaded
    async with AsyncExitStack() as stack:
        embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
        stack.callback(embedder.close)
        index = await open_index(settings, embedder, create=True)
        stack.push_async_callback(index.close)
        counts, language, results = ModelCounts(), None, None
        if settings.language_model is not None:
            from infra.workers.results import topic_results  # noqa: PLC0415 - rules alone load no more clients

            results = topic_results(servers_of(settings))
            language = kept_language_model(settings, results, counts, stack)
        stages = topology_of(settings, embedder, index, language)
        yield Plane(stages, index, IndexGate(index), results, counts)
