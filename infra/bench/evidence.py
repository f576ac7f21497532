"""Evidence metrics: how much of what a question rests on a memory brings (measures of LoCoMo, AdaMem and BEAM)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from infra.bench.question_sets import Asked, Sample

Ranking = Mapping[str, Sequence[str]]
"""Question id to turn ids, best first; a turn that comes twice counts once."""

ANSWERABLE = ("1", "2", "3", "4")
"""LoCoMo's categories that have an answer; the fifth asks for what was never said."""

PER_SPEAKER = 30
"""Turns a speaker whose union counts as brought (AdaMem's measure of what retrieval can still be built on)."""


@dataclass(frozen=True, slots=True)
class Score:
    """One row of a table. ``recall`` and ``complete`` are shares from 0 to 1 over ``questions`` with evidence."""

    group: str
    questions: int
    recall: float
    complete: float


def evidence_recall(question: Asked, turn_ids: Sequence[str], k: int) -> float:
    """Return |evidence in the first ``k`` distinct turns| / |evidence|.

    Raises:
        ValueError: if the question has no evidence.
    """
    if not question.evidence:
        msg = f"{question.id} has no evidence to be recalled"
        raise ValueError(msg)
    return len(set(question.evidence) & set(distinct(turn_ids)[:k])) / len(question.evidence)


def distinct(turn_ids: Iterable[str]) -> list[str]:
    """Return the ids in order, each where it came first."""
    return list(dict.fromkeys(turn_ids))


def score(samples: Iterable[Sample], ranking: Ranking, k: int = 10) -> list[Score]:
    """Return evidence recall and all-evidence share at ``k`` for each group, in the order of their names.

    Questions without evidence don't count; a question that ``ranking`` lacks counts as nothing found.
    """
    values = _values(samples, ranking, k)
    return [_row(group, values, {group}) for group in sorted({question.group for question, _ in values})]


def locomo_table(samples: Iterable[Sample], ranking: Ranking, k: int = 10) -> list[Score]:
    """Return the rows of ``score`` and two more: categories 1 to 4, and all."""
    values = _values(samples, ranking, k)
    groups = sorted({question.group for question, _ in values})
    rows = [_row(group, values, {group}) for group in groups]
    return [*rows, _row("1-4", values, set(ANSWERABLE)), _row("all", values, set(groups))]


def no_positive(samples: Iterable[Sample], ranking: Ranking, per_speaker: int = PER_SPEAKER) -> float:
    """Return the share of answerable LoCoMo questions with no evidence among the first turns of each speaker.

    ``ranking`` should be long enough to hold ``per_speaker`` turns of each.
    """
    misses = [
        not set(question.evidence) & _of_each_speaker(sample, ranking.get(question.id, ()), per_speaker)
        for sample in samples
        for question in sample.questions
        if question.evidence and question.group in ANSWERABLE
    ]
    return fmean(misses) if misses else 0.0


def _of_each_speaker(sample: Sample, turn_ids: Sequence[str], per_speaker: int) -> set[str]:
    speakers = {turn.turn_id: turn.speaker for turn in sample.turns}
    taken: dict[str, list[str]] = {}
    for turn_id in distinct(turn_ids):
        if turn_id in speakers:
            taken.setdefault(speakers[turn_id], []).append(turn_id)
    return {turn_id for turns in taken.values() for turn_id in turns[:per_speaker]}


def _values(samples: Iterable[Sample], ranking: Ranking, k: int) -> list[tuple[Asked, float]]:
    return [
        (question, evidence_recall(question, ranking.get(question.id, ()), k))
        for sample in samples
        for question in sample.questions
        if question.evidence
    ]


def _row(name: str, values: Sequence[tuple[Asked, float]], groups: set[str]) -> Score:
    found = [value for question, value in values if question.group in groups]
    if not found:
        return Score(name, 0, 0.0, 0.0)
    return Score(name, len(found), fmean(found), fmean(value == 1 for value in found))
