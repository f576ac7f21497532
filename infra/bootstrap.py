"""Settings to a memory. What reads only the log loads neither models nor index: they are built when first used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from infra.answering import answering
from infra.embedded_memory import EmbeddedMemory
from infra.errors import UsageError
from infra.home import owned, usable
from infra.memory_api import Memory, Progress
from infra.reindex.homes import journal_of, lagging
from infra.reindex.pointer import load
from infra.settings import Settings
from stages.ports import Embedder
from streams.metrics import ModelCounts

if TYPE_CHECKING:
    from infra.embedded_plane import EmbeddedPlane
    from infra.nights.api import Ground
    from infra.reindex.api import Reindex


@asynccontextmanager
async def open_memory(
    settings: Settings,
    *,
    wait: bool = True,
    progress: Callable[[Progress], None] | None = None,
    embedder: Embedder | None = None,
) -> AsyncIterator[Memory]:
    """Open the memory that the settings name; with ``wait``, first finish what is pending.

    ``embedder`` stands in for the one that the settings name (a benchmark shares a warm one between homes).

    Raises:
        HomeBusy: if another process owns the home.
        HomeUnusable: if the home cannot be used, or belongs to another version or model.
        ModelMissing: if something is pending and the model is not there.
        MissingError: if the settings name a Kafka that does not answer.
    """
    if settings.kafka is not None:
        from infra.remote import open_remote  # noqa: PLC0415 - the embedded mode must not load the clients

        async with open_remote(settings, wait=wait) as remote:
            yield remote
        return
    async with open_embedded(settings, embedder) as memory:
        if wait:
            await memory.run(progress)
        yield memory


@asynccontextmanager
async def open_embedded(
    settings: Settings, embedder: Embedder | None = None, counts: ModelCounts | None = None
) -> AsyncIterator[EmbeddedMemory]:
    """Open the memory of a home, whatever is pending; raises what ``open_memory`` does.

    ``counts`` takes what the language model is asked.
    """
    models = ModelCounts() if counts is None else counts
    async with AsyncExitStack() as stack:
        stack.enter_context(usable(settings.home))
        home = stack.enter_context(owned(settings.home))
        journal = journal_of(home, load(home).generation)
        stack.callback(journal.close)

        def built() -> EmbeddedPlane:
            from infra.embedded_plane import build  # noqa: PLC0415 - see above

            plane = build(settings, home, journal, embedder, models)
            stack.push_async_callback(plane.close)
            return plane

        answers = answering(settings, models, stack)
        memory = EmbeddedMemory(journal, built, lambda: lagging(home, memory.journal), answers)
        yield memory


@asynccontextmanager
async def open_reindex(settings: Settings) -> AsyncIterator[Reindex]:
    """Open what the settings name for a reindex; nothing that is pending is processed.

    Raises:
        HomeBusy: if another process owns the home: a reindex runs in the process that does.
        HomeUnusable: if the home cannot be used.
    """
    if settings.kafka is not None:
        from infra.reindex.kafka import KafkaReindex  # noqa: PLC0415 - the embedded mode must not load the clients

        yield KafkaReindex(settings)
        return
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_memory(settings, wait=False))
        yield reindex_of(settings, memory, stack)


@asynccontextmanager
async def open_ground(
    settings: Settings, report: Callable[[Progress], None], *, wait: bool = True
) -> AsyncIterator[Ground]:
    """Open what the settings name for runs of consolidation; in a home what is pending is processed first (``wait``).

    ``report`` hears what is still to be processed.

    Raises:
        HomeBusy: if another process owns the home: `serve --consolidate` does it there.
        HomeUnusable: if the home cannot be used.
        MissingError: if the settings name a Kafka that does not answer.
    """
    if settings.kafka is not None:
        from infra.nights.kafka import open_kafka_ground  # noqa: PLC0415 - the embedded mode must not load the clients

        async with open_kafka_ground(settings, report) as ground:
            yield ground
        return
    async with open_embedded(settings) as memory:
        from infra.nights.embedded import EmbeddedGround  # noqa: PLC0415 - loads the index

        if wait:
            await memory.run(report)
        yield EmbeddedGround(memory, report)


def reindex_of(settings: Settings, memory: Memory, stack: AsyncExitStack) -> Reindex:
    """Return the reindex of an open memory; ``settings`` name the embedder of what is built, ``stack`` closes that.

    The stack must end before the memory does.
    """
    from infra.embedded_memory import EmbeddedMemory  # noqa: PLC0415
    from infra.reindex.embedded import EmbeddedReindex  # noqa: PLC0415 - loads the index

    if not isinstance(memory, EmbeddedMemory):
        msg = "on Kafka a reindex is a process of its own: run `anabranch reindex`"
        raise UsageError(msg)
    return EmbeddedReindex(settings, memory, stack)
