"""``bench ingest``: the whole chain against the bare encoder on the same texts, in one run.

The conversations of a set are told side by side, as an import of the set works on them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from statistics import median

from rich.console import Console

from infra.bench.filled import scratch, warmed
from infra.bench.report import provenance, table
from infra.embedders import Made
from infra.importers import Format, Imported, publish, read
from infra.memory_api import Memory
from infra.models import SentenceTransformerEmbedder
from infra.settings import Settings
from schemas.space import Space
from stages.ports import Embedder

SLICE = 250
"""Turns that chain and bare encoder take one after the other, so that a machine that changes its speed changes both."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An embedder that notes each distinct text it was given, in order."""

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
class Slice:
    """Seconds over ``texts`` new texts: of the chain, of our encoder alone, of its model in free batches."""

    turns: int
    texts: int
    chain: float
    bare: float
    free: float


async def run_ingest(settings: Settings, path: Path, kind: Format, limit: int | None, console: Console) -> None:
    """Measure ingest of up to ``limit`` turns and print its speed as a ratio of the bare encoder's."""
    recording, bare = Recording(await warmed(settings)), await warmed(settings)
    slices = []
    async with scratch(settings, recording) as (memory, _):
        events = islice(_side_by_side(read(path, kind)), limit)
        while part := list(islice(events, SLICE)):
            slices.append(await _slice(memory, part, recording, bare))
            console.print(f"{sum(each.turns for each in slices)} turns, ratio so far {_ratio(slices):.3f}")
        provenance(console, path, recording.model, memory.sums())
    _print(slices, console)


def _side_by_side(events: Iterable[Imported]) -> Iterator[Imported]:
    """Return one event of each space after the other, each space's in order."""
    spaces: dict[Space, list[Imported]] = {}
    for event in events:
        spaces.setdefault(event.space_key, []).append(event)
    rounds = zip_longest(*spaces.values())
    return (event for each in rounds for event in each if event is not None)


def _print(slices: Sequence[Slice], console: Console) -> None:
    columns = ["slice", "turns", "distinct texts", "turns/s", "chain texts/s", "bare texts/s", "free texts/s", "ratio"]
    rows = [_row(number, each) for number, each in enumerate(slices, start=1)]
    turns = sum(each.turns for each in slices)
    table(console, f"Ingest of {turns} turns against the bare encoder, same threads, both warm", columns, rows)
    middle = median(each.bare / each.chain for each in slices)
    free = sum(each.free for each in slices) / sum(each.chain for each in slices)
    console.print(f"ratio={_ratio(slices):.3f} over all, {middle:.3f} in the median slice")
    console.print(f"(to free batches of the model, which are not bit-stable: {free:.3f})")


def _ratio(slices: Sequence[Slice]) -> float:
    return sum(each.bare for each in slices) / sum(each.chain for each in slices)


def _row(number: int, each: Slice) -> list[str]:
    speeds = [each.turns / each.chain, each.texts / each.chain, each.texts / each.bare, each.texts / each.free]
    counts = [str(number), str(each.turns), str(each.texts)]
    return [*counts, *(f"{speed:.1f}" for speed in speeds), f"{each.bare / each.chain:.2f}"]


async def _slice(memory: Memory, events: Sequence[Imported], recording: Recording, bare: Made) -> Slice:
    known = len(recording.texts)
    began = time.perf_counter()  # noqa: TID251 - a benchmark measures
    await publish(memory, events)
    await memory.run()
    chain = time.perf_counter() - began  # noqa: TID251
    texts = list(recording.texts)[known:]
    began = time.perf_counter()  # noqa: TID251
    await bare.embed(texts)
    bare_took = time.perf_counter() - began  # noqa: TID251
    free_took = bare.free_batches(texts) if isinstance(bare, SentenceTransformerEmbedder) else bare_took
    return Slice(len(events), len(texts), chain, bare_took, free_took)
