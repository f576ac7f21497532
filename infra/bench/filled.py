"""A memory filled for a benchmark: a fresh home in a scratch folder, shared by the commands of one run."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console

from infra.bootstrap import open_memory
from infra.cli.progress import Bar
from infra.embedders import Made, make_embedder
from infra.importers import Imported, publish
from infra.memory_api import Memory, Sums
from infra.settings import Settings
from stages.ports import Embedder


@asynccontextmanager
async def scratch(settings: Settings, embedder: Embedder | None = None) -> AsyncIterator[tuple[Memory, Path]]:
    """Give the embedded memory of a fresh home, and its folder, both gone afterwards: no cluster is touched."""
    with tempfile.TemporaryDirectory(prefix="anabranch-bench-") as folder:
        own = settings.embedded(Path(folder))
        async with open_memory(own, embedder=embedder) as memory:
            yield memory, Path(folder)


@asynccontextmanager
async def filled(
    settings: Settings, events: Iterable[Imported], console: Console, embedder: Embedder | None = None
) -> AsyncIterator[tuple[Memory, Sums]]:
    """Give a memory that holds ``events`` and nothing else, and the sums of filling it."""
    async with scratch(settings, embedder) as (memory, _):
        await publish(memory, events)
        with Bar(console, "ingest") as bar:
            await memory.run(bar.show)
        yield memory, memory.sums()


async def warmed(settings: Settings) -> Made:
    """Return a fresh embedder whose model is loaded and has run; its cache holds nothing that will be asked."""
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    await embedder.embed([f"warming up, text number {number}" for number in range(64)])
    return embedder
