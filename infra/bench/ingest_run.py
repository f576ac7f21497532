"""``bench ingest``: the whole chain against the bare encoder on the same texts, in one run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console

from infra.bench.filled import filled, warmed
from infra.bench.report import provenance, table
from infra.importers import Format, Imported, read
from infra.models import SentenceTransformerEmbedder
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
    """Seconds over ``texts`` distinct texts: of the chain, of our encoder alone, and of its model in free batches."""

    chain: float
    bare: float
    free: float
    texts: int


async def run_ingest(settings: Settings, path: Path, kind: Format, limit: int | None, console: Console) -> None:
    """Measure ingest of up to ``limit`` turns and print its speed as a ratio of the bare encoder's."""
    events = list(islice(read(path, kind), limit))
    rounds = [await _round(settings, path, events, console) for _ in range(ROUNDS)]
    rows = [_row(number, len(events), each) for number, each in enumerate(rounds, start=1)]
    columns = ["round", "distinct texts", "turns/s", "chain texts/s", "bare texts/s", "free texts/s", "ratio"]
    table(console, f"Ingest of {len(events)} turns against the bare encoder, same threads, both warm", columns, rows)
    chain = sum(each.chain for each in rounds)
    console.print(f"ratio={sum(each.bare for each in rounds) / chain:.3f} (to free batches of the model, which are not")
    console.print(f"bit-stable: {sum(each.free for each in rounds) / chain:.3f})")


def _row(number: int, turns: int, each: Round) -> list[str]:
    speeds = [turns / each.chain, each.texts / each.chain, each.texts / each.bare, each.texts / each.free]
    return [str(number), str(each.texts), *(f"{speed:.1f}" for speed in speeds), f"{each.bare / each.chain:.2f}"]


async def _round(settings: Settings, path: Path, events: Iterable[Imported], console: Console) -> Round:
    recording = Recording(await warmed(settings))
    began = time.perf_counter()  # noqa: TID251 - a benchmark measures
    async with filled(settings, events, console, recording) as (_, sums):
        chain = time.perf_counter() - began  # noqa: TID251
        provenance(console, path, recording.model, sums)
    texts = list(recording.texts)
    bare = await warmed(settings)
    began = time.perf_counter()  # noqa: TID251
    await bare.embed(texts)
    bare_took = time.perf_counter() - began  # noqa: TID251
    free_took = bare.free_batches(texts) if isinstance(bare, SentenceTransformerEmbedder) else bare_took
    return Round(chain, bare_took, free_took, len(texts))
