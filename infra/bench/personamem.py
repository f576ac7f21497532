"""PersonaMem (Jiang et al. 2025): questions with four options, asked at a point of a conversation.

Read from the paths of its two files; nothing of the set is part of the project.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from infra.bench.question_sets import PlainTurn
from infra.bench.scorers import choice, options
from infra.errors import UsageError
from infra.importers.files import opened

INSTRUCTION: Final = (
    "Choose the reply that suits this person best. Give the letter of your choice, (a), (b), (c) or (d), "
    "after the mark <final_answer>."
)
"""What follows the question: our words for the protocol's request."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question of a ``kind`` (the set's ``question_type``), its options as one text, and what was said before it."""

    id: str
    kind: str
    question: str
    options: str
    correct: str
    turns: tuple[PlainTurn, ...]

    @property
    def asked(self) -> str:
        """The question as it is put to a model, options behind it."""
        return f"{self.question}\n\n{INSTRUCTION}\n\n{self.options}"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of right choices of a kind of question, from 0 to 1."""

    kind: str
    questions: int
    share: float


def load_personamem(questions: Path, contexts: Path) -> Iterator[Choice]:
    """Read the questions (CSV) with their contexts (JSON lines, one object of one id each), in the file's order.

    Raises:
        UsageError: if a file can't be read, or a question names no option or a context that is not there.
    """
    told = dict(_contexts(contexts))
    with opened(questions) as file:
        for line, row in enumerate(csv.DictReader(io.TextIOWrapper(file, "utf-8", newline="")), start=1):
            yield _choice(f"{questions}, question {line}", row, told)


def accuracy(asked: Sequence[Choice], answers: Mapping[str, str]) -> list[Accuracy]:
    """Return the accuracy of each kind, by name, then of "all"; a question without an answer is not answered right."""
    right: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        right[one.kind].append(choice(answers.get(one.id, ""), one.correct))
    every = [value for values in right.values() for value in values]
    rows = [Accuracy(kind, len(right[kind]), fmean(right[kind])) for kind in sorted(right)]
    return [*rows, Accuracy("all", len(every), fmean(every))] if every else []


def _choice(where: str, row: Mapping[str, str | None], told: Mapping[str, Sequence[PlainTurn]]) -> Choice:
    try:
        correct, turns = str(row["correct_answer"]), told[str(row["shared_context_id"])]
        before = turns[: int(str(row["end_index_in_shared_context"]))]
        name, kind, text, offered = (str(row[column]) for column in _COLUMNS)
    except (KeyError, ValueError) as error:
        msg = (
            f"{where}: no such column, context or index: {error}; give PersonaMem's questions and contexts of one tier"
        )
        raise UsageError(msg) from None
    if len(options(correct)) != 1:
        msg = f"{where}: the right answer should name one option from (a) to (d), got {correct!r}"
        raise UsageError(msg)
    return Choice(name, kind, text, offered, correct, tuple(before))


_COLUMNS: Final = ("question_id", "question_type", "user_question_or_message", "all_options")


def _contexts(path: Path) -> Iterator[tuple[str, list[PlainTurn]]]:
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                for name, messages in json.loads(line).items():
                    yield name, [PlainTurn(str(n), m["role"], m["content"]) for n, m in enumerate(messages)]
            except (ValueError, AttributeError, TypeError, KeyError) as error:
                msg = f"{path}, line {number} is not a context of PersonaMem: {error!r}"
                raise UsageError(msg) from None
