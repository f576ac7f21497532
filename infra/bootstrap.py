"""Settings to a memory. What reads only the log loads neither models nor index: they are built when first used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from infra.embedded_memory import EmbeddedMemory
from infra.home import LOG, owned, usable
from infra.memory_api import Memory, Progress
from infra.settings import Settings
from stages.ports import Embedder
from streams.journal import Journal

if TYPE_CHECKING:
    from infra.embedded_plane import EmbeddedPlane


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
async def open_embedded(settings: Settings, embedder: Embedder | None = None) -> AsyncIterator[EmbeddedMemory]:
    """Open the memory of a home, whatever is pending; raises what ``open_memory`` does."""
    async with AsyncExitStack() as stack:
        stack.enter_context(usable(settings.home))
        home = stack.enter_context(owned(settings.home))
        journal = Journal(home / LOG)
        stack.callback(journal.close)

        def built() -> EmbeddedPlane:
            from infra.embedded_plane import build  # noqa: PLC0415 - see above

            plane = build(settings, home, journal, embedder)
            stack.push_async_callback(plane.close)
            return plane

        yield EmbeddedMemory(journal, built)
