"""``bench answers``: questions of LoCoMo answered, by official F1 and BLEU-1, beside full context and recent turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from infra.bench.answered import Answered, Scored, answer_table
from infra.bench.answering_memory import each, print_prompts, told_at, written
from infra.bench.answering_systems import BEST_HIT, MEMORY, NEVER, Reader, Said, System, Told, best_hit, by_model
from infra.bench.gold import NOT_THERE, Gold, locomo_gold
from infra.bench.judge import described, judged
from infra.bench.question_sets import load_locomo
from infra.bench.report import keep, lines, percent, provenance, table
from infra.bench.views_run import first_sessions
from infra.embedders import make_embedder
from infra.importers import Format, Imported, read
from infra.language_models import reading_language_model
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.recall import Question
from schemas.space import Space
from stages.ports import LanguageModel
from streams.metrics import ModelCounts


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to answer. ``most`` questions of each conversation (unset: all); ``out`` takes the raw answers.

    ``judge``: the same model judges them, too. ``by_rules``: memory is written without the model, which answers only.
    """

    path: Path
    out: Path | None = None
    judge: bool = False
    most: int | None = None
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and what is asked about it."""

    told: Told
    gold: Sequence[Gold]


@dataclass(frozen=True, slots=True)
class Row:
    """An answer as it is scored, and as it was said."""

    answered: Answered
    said: Said

    def raw(self) -> Mapping[str, Any]:
        """Return all of it as JSON values."""
        return {**self.answered.raw(), "reason": str(self.said.reason), "said": dict(self.said.raw)}


async def run_answers(settings: Settings, wanted: Wanted, console: Console) -> list[Row]:
    """Answer the questions of all conversations, print the scores of each system and return the answers."""
    events = list(read(wanted.path, Format.LOCOMO))
    gold, times = locomo_gold(wanted.path), told_at(events)
    talks = [
        Talk(Told(Space(sample.space), sample.turns, times[Space(sample.space)]), asked[: wanted.most])
        for sample in load_locomo(wanted.path)
        for asked in [[gold[question.id] for question in sample.questions]]
    ]
    return await _run(settings, wanted, console, events, talks)


async def run_first_answers(settings: Settings, wanted: Wanted, sessions: int, console: Console) -> list[Row]:
    """Answer the questions that rest on the first sessions of the first conversation alone, likewise."""
    part, gold = first_sessions(wanted.path, sessions), locomo_gold(wanted.path)
    space = Space(part.space)
    times = told_at(part.events)[space]
    plain = next(sample.turns for sample in load_locomo(wanted.path) if sample.space == part.space)
    told = Told(space, [turn for turn in plain if turn.turn_id in times], times)
    talk = Talk(told, [gold[asked.id] for asked in part.questions][: wanted.most])
    return await _run(settings, wanted, console, part.events, [talk])


async def _run(
    settings: Settings, wanted: Wanted, console: Console, events: Iterable[Imported], talks: Sequence[Talk]
) -> list[Row]:
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    async with AsyncExitStack() as stack:
        language = reading_language_model(settings, ModelCounts(), stack)
        entered = written(settings, events, console, embedder, by_rules=wanted.by_rules)
        memory, sums = await stack.enter_async_context(entered)
        provenance(console, wanted.path, f"{settings.language_model or 'no language model'}, {embedder.model}", sums)
        print_prompts(console, settings)
        reader = None if language is None else Reader(language, settings.model_context)
        rows = await _answers(talks, _systems(memory, reader), settings.model_concurrency)
        if wanted.judge and language is not None:
            lines(console, [described(language)])
            rows = await each(rows, _Judge(language).judged, settings.model_concurrency)
    keep(wanted.out, (row.raw() for row in rows))
    show(console, rows)
    return rows


def _systems(memory: Memory, reader: Reader | None) -> dict[str, System]:
    async def best(told: Told, question: Question) -> Said:
        return await best_hit(memory, told.space, question)

    async def never(_told: Told, _question: Question) -> Said:
        return Said(NOT_THERE)

    return {**({} if reader is None else by_model(memory, reader)), BEST_HIT: best, NEVER: never}


async def _answers(talks: Sequence[Talk], systems: Mapping[str, System], at_once: int) -> list[Row]:
    asked = [(name, talk.told, gold) for name in systems for talk in talks for gold in talk.gold]

    async def one(given: tuple[str, Told, Gold]) -> Row:
        name, told, gold = given
        said = await systems[name](told, Question(id=gold.id, question=gold.question))
        return Row(Answered(gold, name, said.text, said.tokens), said)

    return await each(asked, one, at_once)


@dataclass(frozen=True, slots=True)
class _Judge:
    language: LanguageModel

    async def judged(self, row: Row) -> Row:
        """Return a row with the judge's verdict; of what was never said the gold answer says that."""
        gold = row.answered.gold
        space = Space(gold.id.partition("#")[0])
        value = await judged(self.language, space, gold.question, gold.answer, row.answered.answer)
        return replace(row, answered=replace(row.answered, judged=value))


def show(console: Console, rows: Sequence[Row]) -> None:
    """Print a table of scores, percent, and what became of memory's questions."""
    names = list(dict.fromkeys(row.answered.system for row in rows))
    shown = [
        (name, *_cells(scored))
        for name in names
        for scored in answer_table(row.answered for row in rows if row.answered.system == name)
    ]
    columns = ["system", "category", "questions", "F1", "BLEU-1", "judge", "not judged", "tokens"]
    table(console, "LoCoMo: answers by category number, official F1, percent", columns, shown)
    for name in names:
        became = Counter(str(row.said.reason) for row in rows if row.answered.system == name)
        if name == MEMORY or set(became) != {"answered"}:
            lines(console, [f"{name}: {', '.join(f'{reason} {count}' for reason, count in became.most_common())}"])


def _cells(scored: Scored) -> tuple[str, ...]:
    def cell(share: float | None) -> str:
        return "" if share is None else percent(share)

    unjudged = "" if scored.judged is None else str(scored.unjudged)
    means = (cell(scored.f1), cell(scored.bleu), cell(scored.judged))
    return (scored.group, str(scored.questions), *means, unjudged, f"{scored.tokens:.0f}")
