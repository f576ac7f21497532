"""``bench reindex``: ``reindex --vectors`` against the bare encoder on the same texts, in one run.

The home is filled with hashed vectors, which take no time; what is measured embeds it anew, slice by slice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.console import Console

from infra.bench.filled import scratch, warmed
from infra.bench.ingest_run import Recording
from infra.bench.report import provenance, table
from infra.embedded_memory import EmbeddedMemory
from infra.embedders import Made
from infra.importers import Format, publish, read
from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex
from infra.reindex.rows import JournalRows
from infra.settings import Settings
from streams.replay import Reembedding

SLICE = 250
"""Turns between two changes from one to the other, so that a machine that changes its speed changes both."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Seconds over the records of some events with ``texts`` distinct texts: of the reindex, of the encoder alone."""

    events: int
    texts: int
    reindex: float
    bare: float


async def run_reindex(settings: Settings, path: Path, kind: Format, limit: int | None, console: Console) -> None:
    """Measure the re-embedding of up to ``limit`` turns and print its speed as a ratio of the bare encoder's."""
    recording, bare = Recording(await warmed(settings)), await warmed(settings)
    slices: list[Slice] = []
    filling = settings.model_copy(update={"embedder": "hash"})
    async with scratch(filling, HashEmbedder()) as (memory, home):
        assert isinstance(memory, EmbeddedMemory)  # noqa: S101 - a scratch home is
        memory.journal.by_position().prepare()
        index = EdgeIndex.open(home / "new", generation=1, model=recording.model, dimension=recording.dimension)
        following = Reembedding(JournalRows(memory.journal), recording, index)
        events = islice(read(path, kind), limit)
        while part := list(islice(events, SLICE)):
            await publish(memory, part)
            await memory.run()
            slices.append(await _slice(following, recording, bare))
            console.print(f"{sum(each.events for each in slices)} events, ratio so far {_ratio(slices):.3f}")
        provenance(console, path, recording.model, memory.sums())
        await index.close()
    _print(slices, console)


async def _slice(following: Reembedding, recording: Recording, bare: Made) -> Slice:
    known = len(recording.texts)
    began = time.perf_counter()  # noqa: TID251 - a benchmark measures
    events = await following.catch_up()
    took = time.perf_counter() - began  # noqa: TID251
    texts = list(recording.texts)[known:]
    began = time.perf_counter()  # noqa: TID251
    await bare.embed(texts)
    return Slice(events, len(texts), took, time.perf_counter() - began)  # noqa: TID251


def _ratio(slices: Sequence[Slice]) -> float:
    return sum(each.bare for each in slices) / sum(each.reindex for each in slices)


def _print(slices: Sequence[Slice], console: Console) -> None:
    columns = ["slice", "events", "distinct texts", "reindex texts/s", "bare texts/s", "ratio"]
    rows = [
        [
            str(number),
            str(each.events),
            str(each.texts),
            f"{each.texts / each.reindex:.1f}",
            f"{each.texts / each.bare:.1f}",
            f"{each.bare / each.reindex:.2f}",
        ]
        for number, each in enumerate(slices, start=1)
    ]
    table(console, "Re-embedding against the bare encoder, same threads, both warm", columns, rows)
    console.print(f"ratio={_ratio(slices):.3f} over all")
