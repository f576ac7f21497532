"""``bench consolidation``: what recall brings before a night, after it, and after the night was taken back.

Working memory is routed first, as that of an idle space is whether or not anything is consolidated.

It holds the night to its promises: live source records never grow, a second night decides nothing, recall at 10 and the
questions without any evidence are at most half a point worse by rules and no worse with a language model, and what
recall shows after undo is what it showed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from infra.bench.evidence import evidence_recall
from infra.bench.evidence_run import DEPTH, K
from infra.bench.filled import filled
from infra.bench.paired import paired
from infra.bench.question_sets import Asked, Sample, load_beam, load_locomo
from infra.bench.report import keep, percent, provenance, table
from infra.cli.progress import Bar
from infra.embedded_memory import EmbeddedMemory
from infra.embedders import make_embedder
from infra.errors import UsageError
from infra.importers import Format, read
from infra.memory_api import Memory
from infra.nights.api import Told, Wish
from infra.nights.embedded import EmbeddedGround
from infra.nights.events import drain
from infra.nights.night import consolidate
from infra.nights.undoing import undo
from infra.settings import Settings
from schemas.consolidation import Act
from schemas.memory import ITEM_KINDS, RecordKind
from schemas.recall import Question
from schemas.space import Space
from stages.consolidate import live

_now = datetime.now  # noqa: TID251 - when a run begins is the time of its own events
MOST_WORSE: Final = 0.005
"""Recall at 10, and questions without any evidence, may be so much worse after a night by rules (half a point)."""
_ROUNDING: Final = 1e-9
"""Of means over the same questions: less is no loss."""

_SOURCES: Final = frozenset({*ITEM_KINDS, RecordKind.STRUCTURED})
_LOADERS: Final = {Format.LOCOMO: load_locomo, Format.BEAM: load_beam}

Shown = tuple[tuple[tuple[str, ...], str], ...]
"""Turn ids and text of each hit, best first."""


@dataclass(slots=True)
class Stand:
    """What memory brings and holds at one moment, question by question."""

    name: str
    recall: list[float] = field(default_factory=list)
    missed: list[float] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)
    sources: int = 0
    raw: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Nights:
    """The memory under test and the questions put to it."""

    memory: EmbeddedMemory
    samples: Sequence[Sample]
    console: Console

    async def stand(self, name: str) -> Stand:
        """Ask all questions, and count the live source records."""
        found = Stand(name)
        for sample in self.samples:
            space = Space(sample.space)
            found.sources += sum(one.row.kind in _SOURCES for one in live(self.memory.rows(space)))
            for asked in (one for one in sample.questions if one.evidence):
                await _ask(self.memory, space, asked, found)
        return found

    async def drained(self) -> None:
        """Route what is in working memory."""
        for sample in self.samples:
            space = Space(sample.space)
            _, event = drain(space, "bench", _now(UTC))
            await self.memory.publish(space, [event], own=True)
        await self.memory.run()

    async def night(self) -> list[Told]:
        """Consolidate all spaces as if nobody had spoken for long."""
        with Bar(self.console, "consolidating") as bar:
            ground = EmbeddedGround(self.memory, bar.show)
            return [told async for told in consolidate(ground, Wish(), _now(UTC), bar.show)]

    async def back(self, runs: Sequence[str]) -> None:
        """Take runs back, the last one first."""
        with Bar(self.console, "undoing") as bar:
            ground = EmbeddedGround(self.memory, bar.show)
            for run in dict.fromkeys(reversed(runs)):
                _ = [told async for told in undo(ground, Wish(), run, _now(UTC), bar.show)]


async def run_nights(settings: Settings, path: Path, kind: Format, console: Console, raw: Path | None) -> bool:
    """Ingest a set, ask, consolidate, ask, take it back, ask; return whether all promises were kept.

    Raises:
        UsageError: if the set has no questions of its own.
    """
    if kind not in _LOADERS:
        msg = f"{kind} has no questions with evidence: take {' or '.join(_LOADERS)}"
        raise UsageError(msg)
    samples = _LOADERS[kind](path)
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    async with filled(settings, read(path, kind), console, embedder) as (memory, sums):
        provenance(console, path, embedder.model, sums)
        nights = _Nights(_embedded(memory), samples, console)
        await nights.drained()
        stands = [await nights.stand("before")]
        first = await nights.night()
        stands.append(await nights.stand("after a night"))
        second = await nights.night()
        await nights.back([told.run for told in first if told.decisions])
        stands.append(await nights.stand("taken back"))
    keep(raw, (answer | {"stand": one.name} for one in stands for answer in one.raw))
    _print(console, stands, first)
    return _kept(console, stands, second, by_model=settings.language_model is not None)


def _embedded(memory: Memory) -> EmbeddedMemory:
    if not isinstance(memory, EmbeddedMemory):
        msg = f"this benchmark fills a home of its own, and got {type(memory).__name__}"
        raise TypeError(msg)
    return memory


async def _ask(memory: Memory, space: Space, asked: Asked, found: Stand) -> None:
    answer = await memory.recall(space, Question(id=asked.id, question=asked.question, asker=asked.asker, k=DEPTH))
    turns = [turn_id for hit in answer.hits for turn_id in hit.turn_ids]
    found.recall.append(evidence_recall(asked, turns, K))
    found.missed.append(float(not set(asked.evidence).intersection(turns)))
    found.shown[asked.id] = tuple((hit.turn_ids, hit.text) for hit in answer.hits[:K])
    found.raw.append({"question": asked.question, "evidence": list(asked.evidence)} | answer.model_dump(mode="json"))


def _print(console: Console, stands: Sequence[Stand], told: Sequence[Told]) -> None:
    before = stands[0]
    rows = [
        (
            one.name,
            str(one.sources),
            percent(fmean(one.recall)),
            "" if one is before else str(paired(one.recall, before.recall)),
            percent(fmean(one.missed)),
            "" if one is before else str(paired(one.missed, before.missed)),
        )
        for one in stands
    ]
    columns = ["memory", "live sources", f"recall at {K}", "less before", f"none in {DEPTH}", "less before"]
    table(console, f"{len(before.recall)} questions, percent; differences with their 95 % intervals", columns, rows)
    acts = _acts(told)
    console.print("  ".join(f"{act.value}: {acts[act]}" for act in Act if acts[act]) or "nothing was decided")


def _acts(told: Sequence[Told]) -> Mapping[Act, int]:
    return Counter(decision.act for one in told for decision in one.decisions)


def _kept(console: Console, stands: Sequence[Stand], second: Sequence[Told], *, by_model: bool) -> bool:
    before, after, back = stands
    worst, most = (_ROUNDING, "nothing") if by_model else (MOST_WORSE + _ROUNDING, "at most half a point")
    again = sum(len(told.decisions) for told in second)
    other = sum(set(shown) != set(back.shown[name]) for name, shown in before.shown.items())
    moved = sum(shown != back.shown[name] for name, shown in before.shown.items()) - other
    promises = {
        f"live source records: {before.sources}, after a night {after.sources}": after.sources <= before.sources,
        f"a second night decided {again} more": not again,
        f"recall at {K} lost {most}": fmean(before.recall) - fmean(after.recall) <= worst,
        f"questions without any evidence rose by {most}": fmean(after.missed) - fmean(before.missed) <= worst,
        f"taken back, {other} of {len(before.shown)} questions show other hits than before, "
        f"{moved} the same in another order": not (other or moved),
    }
    for said, is_kept in promises.items():
        console.print(f"{'kept' if is_kept else 'BROKEN'}: {said}", highlight=False)
    return all(promises.values())
