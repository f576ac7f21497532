"""``bench answers --format personamem``: multiple choice by each system, asked at a point of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from rich.console import Console

from infra.bench.answering_memory import each, print_prompts, written
from infra.bench.answering_systems import Reader, Said, System, Told, by_model
from infra.bench.personamem import Choice, accuracy, load_personamem
from infra.bench.question_sets import PlainTurn
from infra.bench.report import keep, percent, provenance, table
from infra.bench.scorers import choice
from infra.embedders import make_embedder
from infra.errors import UsageError
from infra.importers import Imported
from infra.language_models import reading_language_model
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.memory import OutcomeRow, OutcomeState
from schemas.recall import Question
from schemas.space import Space
from streams.metrics import ModelCounts

ALWAYS_A: Final = "always (a) (no model)"

_START: Final = datetime(2026, 1, 1, 9, tzinfo=UTC)
"""The set has no times: its turns are a minute apart, from any day."""

_ROLES: Final = {"user": "user", "assistant": "agent", "system": "system"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A choice, the space that holds its conversation, and the position that it is asked as of (-1: before all)."""

    choice: Choice
    told: Told
    as_of: int = -1


async def run_choices(
    settings: Settings, path: Path, console: Console, out: Path | None = None, *, by_rules: bool = False
) -> None:
    """Write the conversations of PersonaMem, let each system choose, and print how often it was right.

    Raises:
        UsageError: if the folder has not one file of questions (.csv) and one of contexts (.jsonl).
    """
    asked = shared(list(load_personamem(*_files(path))))
    embedder = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    async with AsyncExitStack() as stack:
        language = reading_language_model(settings, ModelCounts(), stack)
        events = list(_events(asked))
        memory, sums = await stack.enter_async_context(written(settings, events, console, embedder, by_rules=by_rules))
        provenance(console, path, f"{settings.language_model or 'no language model'}, {embedder.model}", sums)
        print_prompts(console, settings)
        reader = None if language is None else Reader(language, settings.model_context)
        asked = placed(memory, asked)
        said = await _choose(asked, _systems(memory, reader), settings.model_concurrency)
    keep(out, _raw(asked, said))
    _show(console, [one.choice for one in asked], said)


def _files(path: Path) -> tuple[Path, Path]:
    questions, contexts = sorted(path.glob("*.csv*")), sorted(path.glob("*.jsonl*"))
    if len(questions) != 1 or len(contexts) != 1:
        msg = f"{path} should be a folder with PersonaMem's questions (one .csv) and contexts (one .jsonl) of one tier"
        raise UsageError(msg)
    return questions[0], contexts[0]


def shared(choices: Sequence[Choice]) -> list[Asked]:
    """Return the choices with the conversations that they are asked in: one for all points of the same one."""
    longest: list[Told] = []
    found: dict[str, Told] = {}
    for one in sorted(choices, key=lambda one: -len(one.turns)):
        told = next((told for told in longest if tuple(told.turns[: len(one.turns)]) == one.turns), None)
        if told is None:
            at = {turn.turn_id: _START + timedelta(minutes=n) for n, turn in enumerate(one.turns)}
            told = Told(Space(f"personamem/{len(longest)}"), one.turns, at)
            longest.append(told)
        found[one.id] = told
    return [Asked(one, found[one.id]) for one in choices]


def _events(asked: Sequence[Asked]) -> Iterator[Imported]:
    """Give the turns of each conversation once."""
    for told in {one.told.space: one.told for one in asked}.values():
        for turn in told.turns:
            payload = json.dumps(_turn(told, turn), ensure_ascii=False).encode()
            yield Imported(told.space, payload, f"{told.space}, turn {turn.turn_id}")


def _turn(told: Told, turn: PlainTurn) -> Mapping[str, object]:
    role = _ROLES.get(turn.speaker, "user")
    speaker = {"id": turn.speaker, "name": turn.speaker, "role": role}
    at = told.at[turn.turn_id].isoformat()
    return {"space": told.space, "turn_id": turn.turn_id, "speaker": speaker, "text": turn.text, "at": at}


def placed(memory: Memory, asked: Sequence[Asked]) -> list[Asked]:
    """Return the choices, each as of the last turn before it that memory has."""
    positions = {space: _positions(memory, space) for space in {one.told.space for one in asked}}
    return [Asked(one.choice, one.told, _last(one.choice, positions[one.told.space])) for one in asked]


def _positions(memory: Memory, space: Space) -> dict[str, int]:
    outcomes = (row for row in memory.rows(space) if isinstance(row, OutcomeRow))
    return {row.event_id: row.position for row in outcomes if row.state is OutcomeState.COMMITTED}


def _last(one: Choice, positions: Mapping[str, int]) -> int:
    return max((positions[turn.turn_id] for turn in one.turns if turn.turn_id in positions), default=-1)


def _systems(memory: Memory, reader: Reader | None) -> dict[str, System]:
    async def always_a(_told: Told, _question: Question) -> Said:
        return Said("(a)")

    return {**({} if reader is None else by_model(memory, reader)), ALWAYS_A: always_a}


async def _choose(asked: Sequence[Asked], systems: Mapping[str, System], at_once: int) -> dict[str, dict[str, Said]]:
    async def one(given: tuple[str, Asked]) -> Said:
        name, this = given
        before = Told(this.told.space, this.choice.turns, this.told.at)
        question = Question(id=this.choice.id, question=this.choice.asked, as_of=this.as_of)
        return await systems[name](before, question)

    pairs = [(name, this) for name in systems for this in asked]
    said = await each(pairs, one, at_once)
    chosen: dict[str, dict[str, Said]] = {name: {} for name in systems}
    for (name, this), words in zip(pairs, said, strict=True):
        chosen[name][this.choice.id] = words
    return chosen


def _raw(asked: Sequence[Asked], said: Mapping[str, Mapping[str, Said]]) -> Iterator[Mapping[str, object]]:
    for name, words in said.items():
        for one in asked:
            answer = words[one.choice.id]
            known = {"id": one.choice.id, "kind": one.choice.kind, "question": one.choice.asked, "as_of": one.as_of}
            known |= {"system": name, "answer": answer.text, "correct": one.choice.correct}
            known |= {"score": choice(answer.text, one.choice.correct), "reason": str(answer.reason)}
            yield known | {"said": dict(answer.raw)}


def _show(console: Console, choices: Sequence[Choice], said: Mapping[str, Mapping[str, Said]]) -> None:
    rows = [
        (name, row.kind, str(row.questions), percent(row.share))
        for name, words in said.items()
        for row in accuracy(choices, {key: answer.text for key, answer in words.items()})
    ]
    table(console, "PersonaMem: right choices, percent", ["system", "kind", "questions", "right"], rows)
