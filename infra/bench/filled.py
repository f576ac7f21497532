"""A memory filled for a benchmark: a fresh home in a scratch folder, shared by the commands of one run."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path

from rich.console import Console

from infra.bootstrap import open_memory
from infra.cli.progress import Bar
from infra.importers import Imported
from infra.memory_api import Memory, Sums
from infra.settings import Settings
from stages.ports import Embedder


@asynccontextmanager
async def filled(
    settings: Settings, events: Iterable[Imported], console: Console, embedder: Embedder | None = None
) -> AsyncIterator[tuple[Memory, Sums]]:
    """Give a memory that holds ``events`` and nothing else, and the sums of filling it."""
    with tempfile.TemporaryDirectory(prefix="anabranch-bench-") as folder:
        own = settings.model_copy(update={"home": Path(folder)})
        async with open_memory(own, embedder=embedder) as memory:
            await publish(memory, events)
            with Bar(console, "ingest") as bar:
                await memory.run(bar.show)
            yield memory, memory.sums()


async def publish(memory: Memory, events: Iterable[Imported]) -> None:
    """Append events to the log, each run of one space at once."""
    for space_key, run in groupby(events, key=lambda event: event.space_key):
        await memory.publish(space_key, [event.payload for event in run])


def files_under(path: Path, ending: str) -> Iterator[Path]:
    """Give the files of a folder whose names end so, or the file itself."""
    yield from sorted(path.rglob(f"*{ending}")) if path.is_dir() else [path]
