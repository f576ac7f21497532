"""Answers as a system gave them, kept raw, and the tables made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from infra.bench.gold import Gold
from infra.bench.scorers import ADVERSARIAL, CATEGORIES, bleu_1, locomo_f1


@dataclass(frozen=True, slots=True)
class Answered:
    """What a system answered: its words, the tokens of context it was shown, and a judge's 0 or 1, if one judged."""

    gold: Gold
    system: str
    answer: str
    tokens: int = 0
    judged: float | None = None

    @property
    def f1(self) -> float:
        """The official score."""
        return locomo_f1(self.gold.category, self.answer, self.gold.answer)

    @property
    def bleu(self) -> float | None:
        """BLEU-1; none where there is no gold answer to compare with."""
        return None if self.gold.category == ADVERSARIAL else bleu_1(self.answer, self.gold.answer)

    def raw(self) -> Mapping[str, Any]:
        """Return all of it as JSON values, scores included."""
        return {**asdict(self), "f1": self.f1, "bleu_1": self.bleu}


@dataclass(frozen=True, slots=True)
class Scored:
    """A row of a table: means from 0 to 1 over ``questions``, none where nothing counts; ``judged`` of those judged."""

    group: str
    questions: int
    f1: float
    bleu: float | None
    judged: float | None
    unjudged: int
    tokens: float


def answer_table(answers: Iterable[Answered]) -> list[Scored]:
    """Return a row for each category there is, then "1-4" and "all", each the mean over its questions.

    Means go over questions, not over categories, so that a small category weighs little.
    """
    known = list(answers)
    groups = [(str(category), _of(known, {category})) for category in CATEGORIES]
    answerable = _of(known, set(CATEGORIES) - {ADVERSARIAL})
    return [_row(name, rows) for name, rows in [*groups, ("1-4", answerable), ("all", known)] if rows]


def _of(answers: Sequence[Answered], categories: set[int]) -> list[Answered]:
    return [one for one in answers if one.gold.category in categories]


def _row(group: str, rows: Sequence[Answered]) -> Scored:
    return Scored(
        group,
        len(rows),
        fmean(one.f1 for one in rows),
        _mean(rows, lambda one: one.bleu),
        _mean(rows, lambda one: one.judged),
        sum(one.judged is None for one in rows),
        fmean(one.tokens for one in rows),
    )


def _mean(rows: Sequence[Answered], value: Callable[[Answered], float | None]) -> float | None:
    values = [found for one in rows if (found := value(one)) is not None]
    return fmean(values) if values else None
