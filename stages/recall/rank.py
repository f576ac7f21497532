"""Candidates with their bodies: boosts that need them, and the choice of the k turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.localized import Placement, Rule
from schemas.memory import RecordRow
from schemas.recall import Question
from stages.recall.asking import People
from stages.recall.fit import Sought, fit
from stages.recall.pool import Candidate, ranked
from stages.recall.scale import UNIT

SPEAKER = UNIT
"""A deviation for the right speaker: a boost, since people are asked about by the wrong name (mechanics, recall 2)."""

BRANCH = UNIT
"""A deviation for the branch that the question resumes; on random branches it costs 0.1 points of recall at 10."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known when candidates are ranked."""

    question: Question
    sought: Sequence[Sought]
    placement: Placement | None
    bodies: Mapping[str, RecordRow]

    def rank(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates whose record is there, with speaker, time and branch in their score, best first."""
        there = [one for one in candidates if one.shown in self.bodies]
        people = People.of(self.bodies[one.shown] for one in there)
        meant = people.meant(self.question.question, self.question.asker)
        return ranked(self._boosted(one, meant) for one in there)

    def _boosted(self, one: Candidate, meant: frozenset[str]) -> Candidate:
        names = dict.fromkeys((one.shown, one.own, one.item))
        records = [self.bodies[name] for name in names if name is not None and name in self.bodies]
        by = SPEAKER if meant and _said_by(records[0]) in meant else 0
        timely = fit(self.sought, records) if self.sought else 0
        return one.plus("speaker", by).plus("time", timely).plus("branch", self._affinity(one.branch))

    def _affinity(self, branch: int | None) -> int:
        placed = self.placement
        if placed is None or placed.rule is Rule.NEW_ROOT or branch != placed.branch:
            return 0
        return BRANCH


def _said_by(row: RecordRow) -> str | None:
    return row.speaker.id if row.speaker is not None else row.owner


def chosen(candidates: Iterable[Candidate], bodies: Mapping[str, RecordRow], k: int) -> list[Candidate]:
    """Return the first candidates that make up ``k`` distinct turns; one that brings no new turn is left out."""
    covered: set[str] = set()
    taken: list[Candidate] = []
    for one in candidates:
        if len(covered) >= k:
            break
        turns = set(turn_ids(bodies[one.shown], one))
        if turns - covered:
            covered |= turns
            taken.append(one)
    return taken


def turn_ids(row: RecordRow, one: Candidate) -> tuple[str, ...]:
    """Return the turns that a candidate's record is evidence of; of a window only its anchor."""
    return (one.turn_id,) if one.anchored else row.provenance
