"""``bench views``: the same sessions written under views that configure themselves, a single view and random views.

AutoViewMem's ablation at the level of evidence. All variants answer the same questions from the same number of turns;
differences come with a bootstrap interval over the questions.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from infra.bench.evidence import ANSWERABLE, evidence_recall
from infra.bench.evidence_run import DEPTH, K
from infra.bench.filled import scratch
from infra.bench.paired import paired
from infra.bench.question_sets import Asked, Sample, load_locomo
from infra.bench.report import keep, percent, provenance, table
from infra.embedders import make_embedder
from infra.errors import UsageError
from infra.importers import Format, Imported, publish, read
from infra.memory_api import Memory, Sums
from infra.settings import Settings
from schemas.memory import ITEM_KINDS
from schemas.recall import Question
from schemas.space import Space
from stages.ports import Embedder

VARIANTS: Final = ("auto", "single", "random")
RULES: Final = "rules"
"""No language model: what each variant is measured against apart from the others."""

_ITEMS: Final = frozenset(ITEM_KINDS)


@dataclass(frozen=True, slots=True)
class Part:
    """The first sessions of a conversation, and the questions that rest on them alone."""

    space: str
    events: tuple[Imported, ...]
    questions: tuple[Asked, ...]


@dataclass(slots=True)
class Found:
    """What a variant brought, question by question: all turns, and those whose best record was an item."""

    whole: list[list[str]] = field(default_factory=list)
    items: list[list[str]] = field(default_factory=list)
    raw: list[dict[str, Any]] = field(default_factory=list)
    sums: Sums = field(default_factory=Sums)


async def run_views(settings: Settings, path: Path, sessions: int, console: Console, raw: Path | None) -> None:
    """Write the first sessions of a LoCoMo conversation in each variant, and compare what recall brings.

    Raises:
        UsageError: if no language model is set: all variants would be the same.
    """
    if settings.language_model is None:
        msg = "views are a language model's: name one in ANABRANCH_LANGUAGE_MODEL"
        raise UsageError(msg)
    part = first_sessions(path, sessions)
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    names = (RULES, *VARIANTS)
    console.print(f"{len(part.events)} turns, written {len(names)} times at once: {', '.join(names)}")
    # a space asks for one turn after the other: side by side they take the time of one, and fill the server's batches
    written = await asyncio.gather(*(_variant(_of(settings, name), name, part, console, embedder) for name in names))
    provenance(console, path, f"{settings.language_model}, {embedder.model}", written[0].sums)
    found = dict(zip(names, written, strict=True))
    keep(raw, (answer | {"variant": name} for name, one in found.items() for answer in one.raw))
    for title, lists in (("All records", _whole(found)), ("Turns of which an item was the best record", _items(found))):
        _print(console, f"{title}: at {K} turns, {len(part.questions)} questions, percent", part.questions, lists)


def first_sessions(path: Path, sessions: int) -> Part:
    """Return the first ``sessions`` sessions of the first conversation, with its questions of categories 1 to 4.

    Raises:
        UsageError: if no question rests on these sessions alone.
    """
    sample = load_locomo(path)[0]
    events = tuple(_told(path, sample.space, sessions))
    told = {turn_id for turn_id, _ in (_turn(event) for event in events)}
    questions = tuple(_answerable(sample, told))
    if not questions:
        msg = f"no question of {path} rests on its first {sessions} sessions alone: take more"
        raise UsageError(msg)
    return Part(sample.space, events, questions)


def _told(path: Path, space: str, sessions: int) -> Iterator[Imported]:
    for event in read(path, Format.LOCOMO):
        if event.space_key == space and _turn(event)[1] <= sessions:
            yield event


def _turn(event: Imported) -> tuple[str, int]:
    body = json.loads(event.payload)
    return body["turn_id"], int(body["session"])


def _answerable(sample: Sample, told: set[str]) -> Iterator[Asked]:
    for question in sample.questions:
        if question.evidence and question.group in ANSWERABLE and told.issuperset(question.evidence):
            yield question


def _of(settings: Settings, variant: str) -> Settings:
    changed: dict[str, Any] = {"language_model": None} if variant == RULES else {"views": variant}
    return settings.model_copy(update=changed)


async def _variant(settings: Settings, name: str, part: Part, console: Console, embedder: Embedder) -> Found:
    found = Found()
    async with scratch(settings, embedder) as (memory, _):
        await publish(memory, part.events)
        await memory.run()
        found.sums = memory.sums()
        console.print(f"{name}: {found.sums}", highlight=False)
        for asked in part.questions:
            await _ask(memory, Space(part.space), asked, found)
    return found


async def _ask(memory: Memory, space: Space, asked: Asked, found: Found) -> None:
    answer = await memory.recall(space, Question(id=asked.id, question=asked.question, k=DEPTH))
    found.whole.append([turn_id for hit in answer.hits for turn_id in hit.turn_ids])
    found.items.append([turn_id for hit in answer.hits if hit.kind in _ITEMS for turn_id in hit.turn_ids])
    found.raw.append({"question": asked.question, "evidence": list(asked.evidence)} | answer.model_dump(mode="json"))


def _whole(found: Mapping[str, Found]) -> dict[str, list[list[str]]]:
    return {name: one.whole for name, one in found.items()}


def _items(found: Mapping[str, Found]) -> dict[str, list[list[str]]]:
    return {name: one.items for name, one in found.items()}


def _print(
    console: Console, title: str, questions: Sequence[Asked], lists: Mapping[str, Sequence[Sequence[str]]]
) -> None:
    recalls = {name: recalls_of(questions, turns) for name, turns in lists.items()}
    misses = {name: [float(value == 0) for value in values] for name, values in recalls.items()}
    first = VARIANTS[0]
    rows = [
        (
            name,
            percent(fmean(values)),
            "" if name == first else str(paired(recalls[first], values)),
            percent(fmean(misses[name])),
            "" if name == first else str(paired(misses[first], misses[name])),
        )
        for name, values in recalls.items()
    ]
    table(console, title, ["views", "recall", f"{first} less it", "no positive", f"{first} less it"], rows)


def recalls_of(questions: Sequence[Asked], turns: Sequence[Sequence[str]]) -> list[float]:
    """Return the evidence recall of each question among the first ``K`` distinct turns brought for it."""
    return [evidence_recall(asked, brought, K) for asked, brought in zip(questions, turns, strict=True)]
