"""What benchmarks of answers have in common: a memory to ask, many questions at once, and what stands with figures."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console

from infra.bench.report import lines
from infra.bootstrap import open_memory
from infra.cli.progress import Bar
from infra.importers import Imported, publish
from infra.memory_api import Memory, Sums
from infra.settings import Settings
from schemas.space import Space
from stages.answer import PROMPTS
from stages.ports import Embedder

A = TypeVar("A")
B = TypeVar("B")

NO_MODEL: Final = (
    "No language model is named (ANABRANCH_LANGUAGE_MODEL): memory gives evidence and no answers, and none is scored.",
    "What follows are the baselines that need no model.",
)


@asynccontextmanager
async def written(
    settings: Settings, events: Iterable[Imported], console: Console, embedder: Embedder, *, by_rules: bool
) -> AsyncIterator[tuple[Memory, Sums]]:
    """Give a memory that holds ``events`` and nothing else, and their sums; ``by_rules``: no model wrote it."""
    with tempfile.TemporaryDirectory(prefix="anabranch-bench-") as folder:
        own = settings.embedded(Path(folder))
        writing = own.model_copy(update={"language_model": None}) if by_rules else own
        async with open_memory(writing, embedder=embedder) as memory:
            await publish(memory, events)
            with Bar(console, "ingest") as bar:
                await memory.run(bar.show)
            sums = memory.sums()
        async with open_memory(own, embedder=embedder) as memory:
            yield memory, sums


async def each(things: Sequence[A], work: Callable[[A], Awaitable[B]], at_once: int) -> list[B]:
    """Return what comes of each thing, in order; so many are worked on at once."""
    free = asyncio.Semaphore(at_once)

    async def one(thing: A) -> B:
        async with free:
            return await work(thing)

    return await asyncio.gather(*map(one, things))


def told_at(events: Iterable[Imported]) -> dict[Space, dict[str, datetime]]:
    """Return when each turn was said, by space and turn id, as the log has it."""
    times: dict[Space, dict[str, datetime]] = {}
    for event in events:
        body = json.loads(event.payload)
        times.setdefault(event.space_key, {})[body["turn_id"]] = datetime.fromisoformat(body["at"])
    return times


def print_prompts(console: Console, settings: Settings) -> None:
    """Print the prompts by which answers are made, or that there is no model."""
    if settings.language_model is None:
        lines(console, NO_MODEL)
        return
    digests = (hashlib.sha256(prompt.text.encode()).hexdigest()[:16] for prompt in PROMPTS)
    named = (
        f"{prompt.name}.v{prompt.version} sha256 {digest}" for prompt, digest in zip(PROMPTS, digests, strict=True)
    )
    lines(console, [f"prompts {'   '.join(named)}"])
