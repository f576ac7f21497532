"""``bench locomo`` and ``bench beam``: evidence recall of the whole chain, beside trivial baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from infra.bench import baselines
from infra.bench.evidence import Ranking, Score, locomo_table, no_positive, score
from infra.bench.filled import filled
from infra.bench.latency import latency
from infra.bench.question_sets import Asked, Sample, load_beam, load_locomo
from infra.bench.report import keep, percent, provenance, table
from infra.embedders import make_embedder
from infra.importers import Format, read
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.recall import Question
from schemas.space import Space
from stages.ports import Embedder

K = 10
"""Distinct evidence turns that count, as in the papers."""

OURS = "anabranch"

DEPTH = 100
"""Distinct turns asked for apart, for the no-positive rate."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a memory answered: turns asked for ``K`` and for ``DEPTH``, raw answers and how long each took (ms)."""

    ranking: dict[str, list[str]] = field(default_factory=dict)
    deep: dict[str, list[str]] = field(default_factory=dict)
    raw: list[dict[str, Any]] = field(default_factory=list)
    took_ms: list[float] = field(default_factory=list)


async def run_locomo(settings: Settings, path: Path, console: Console, raw: Path | None) -> None:
    """Ingest LoCoMo conversations, ask their questions, and print evidence recall by category number."""
    samples = load_locomo(path)
    answered, others = await _systems(settings, path, Format.LOCOMO, samples, console, raw, deep=True)
    systems = {OURS: answered.ranking, **others}
    rows = {name: locomo_table(samples, ranking, K) for name, ranking in systems.items()}
    _print(console, f"LoCoMo: evidence recall at {K} (all evidence at {K}), percent", rows)
    deep = {OURS: answered.deep, **others}
    rates = [(name, percent(no_positive(samples, ranking))) for name, ranking in deep.items()]
    table(console, "No evidence in the top 30 of each speaker, percent of categories 1-4", ["system", "rate"], rates)


async def run_beam(settings: Settings, path: Path, console: Console, raw: Path | None) -> None:
    """Ingest BEAM chats, ask their probing questions, and print source recall by ability."""
    samples = load_beam(path)
    answered, others = await _systems(settings, path, Format.BEAM, samples, console, raw)
    rows = {name: score(samples, ranking, K) for name, ranking in {OURS: answered.ranking, **others}.items()}
    _print(console, f"BEAM: source recall at {K} (all sources at {K}), percent", rows)


async def _systems(  # noqa: PLR0917 - what both benchmarks have in common
    settings: Settings,
    path: Path,
    kind: Format,
    samples: Sequence[Sample],
    console: Console,
    raw: Path | None,
    *,
    deep: bool = False,
) -> tuple[Answered, dict[str, Ranking]]:
    """Return what the memory answered, and the ranking of each baseline."""
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    async with filled(settings, read(path, kind), console, embedder) as (memory, sums):
        provenance(console, path, embedder.model, sums)
        console.print(str(await latency(memory, list(samples), embedder)))
        answered = await _ask(memory, samples, deep=deep)
    console.print(f"recall p50 {median(answered.took_ms):.1f} ms at k={K} over {len(answered.took_ms)} questions")
    keep(raw, answered.raw)
    return answered, await _baselines(samples, embedder)


async def _baselines(samples: Sequence[Sample], embedder: Embedder) -> dict[str, Ranking]:
    recent, lexical, dense = dict[str, list[str]](), dict[str, list[str]](), dict[str, list[str]]()
    for sample in samples:
        recent |= baselines.recent(sample)
        lexical |= baselines.bm25(sample)
        dense |= await baselines.dense(sample, embedder)
    return {"recent turns": recent, "BM25": lexical, "dense": dense}


async def _ask(memory: Memory, samples: Sequence[Sample], *, deep: bool) -> Answered:
    answered = Answered()
    for sample in samples:
        for asked in sample.questions:
            if asked.evidence:
                await _one(memory, Space(sample.space), asked, answered, deep=deep)
    return answered


async def _one(memory: Memory, space: Space, asked: Asked, answered: Answered, *, deep: bool) -> None:
    question = Question(id=asked.id, question=asked.question, asker=asked.asker, k=K)
    found = await memory.recall(space, question)
    answered.ranking[asked.id] = [turn_id for hit in found.hits for turn_id in hit.turn_ids]
    if deep:
        further = await memory.recall(space, question.model_copy(update={"k": DEPTH}))
        answered.deep[asked.id] = [turn_id for hit in further.hits for turn_id in hit.turn_ids]
    answered.took_ms.append(found.took_ms)
    answered.raw.append(
        {"question": asked.question, "evidence": list(asked.evidence), "space": space} | found.model_dump(mode="json")
    )


def _print(console: Console, title: str, systems: dict[str, list[Score]]) -> None:
    groups = [(row.group, row.questions) for row in next(iter(systems.values()))]
    cells = {
        (name, row.group): f"{percent(row.recall)} ({percent(row.complete)})"
        for name, rows in systems.items()
        for row in rows
    }
    lines = [[group, str(count), *(cells.get((name, group), "-") for name in systems)] for group, count in groups]
    table(console, title, ["category", "questions", *systems], lines)
