"""``bench ingest``: the whole chain against the bare encoder on the same texts, in one run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console

from infra.bench.filled import filled
from infra.bench.report import provenance, table
from infra.importers import Format, Imported, read
from infra.models import make_embedder
from infra.settings import Settings
from stages.ports import Embedder

ROUNDS = 2
"""Chain and bare encoder take turns, so that a machine that slows down slows both."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An embedder that notes each distinct text it was given."""

    inner: Embedder
    texts: dict[str, None] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model behind it."""
        return self.inner.model

    @property
    def dimension(self) -> int:
        """Bytes of a vector."""
        return self.inner.dimension

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Note the texts and pass them on."""
        self.texts.update(dict.fromkeys(texts))
        return await self.inner.embed(texts)

    async def embed_query(self, text: str) -> bytes:
        """Pass a query on."""
        return await self.inner.embed_query(text)


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of the chain and of the bare encoder over ``texts`` distinct texts."""

    chain: float
    bare: float
    texts: int


async def run_ingest(settings: Settings, path: Path, kind: Format, limit: int | None, console: Console) -> None:
    """Measure ingest of up to ``limit`` turns and print its speed as a ratio of the bare encoder's."""
    events = list(islice(read(path, kind), limit))
    rounds = [await _round(settings, path, events, console) for _ in range(ROUNDS)]
    rows = [
        [str(number + 1), str(r.texts), f"{len(events) / r.chain:.1f}", f"{r.texts / r.chain:.1f}",
         f"{r.texts / r.bare:.1f}", f"{r.bare / r.chain:.2f}"]
        for number, r in enumerate(rounds)
    ]  # fmt: skip
    columns = ["round", "distinct texts", "turns/s", "texts/s in the chain", "texts/s bare", "ratio"]
    table(console, f"Ingest of {len(events)} turns against the bare encoder, same threads, both warm", columns, rows)
    console.print(f"ratio={sum(r.bare for r in rounds) / sum(r.chain for r in rounds):.3f}")


async def _round(settings: Settings, path: Path, events: Iterable[Imported], console: Console) -> Round:
    recording = Recording(await _warm(settings))
    began = time.perf_counter()  # noqa: TID251 - a benchmark measures
    async with filled(settings, events, console, recording) as (_, sums):
        chain = time.perf_counter() - began  # noqa: TID251
        provenance(console, path, recording.model, sums)
    bare = await _warm(settings)
    began = time.perf_counter()  # noqa: TID251
    await bare.embed(list(recording.texts))
    return Round(chain, time.perf_counter() - began, len(recording.texts))  # noqa: TID251


async def _warm(settings: Settings) -> Embedder:
    """Return a fresh embedder whose model is loaded and has run; its cache holds nothing that will be asked."""
    embedder = make_embedder(settings.embedder, threads=settings.threads)
    await embedder.embed([f"warming up, text number {number}" for number in range(64)])
    return embedder
