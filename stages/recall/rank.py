"""Candidates with their bodies: boosts that need them, and the choice of the k turns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from schemas.localized import Placement, Rule
from schemas.memory import RecordRow
from schemas.recall import Question
from stages.recall.asking import People
from stages.recall.bodies import Bodies
from stages.recall.candidate import Candidate
from stages.recall.fit import Sought, fit
from stages.recall.plan import Plan
from stages.recall.scale import UNIT
from stages.recall.tentative import plain_first
from stages.recall.working import working_first

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
    bodies: Bodies
    plan: Plan

    def rank(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates whose record is there, with speaker, time and branch in their score, best first.

        Where the question is about several participants, each has a share of the first ``k`` places.
        """
        rows = self.bodies.rows
        there = [one for one in candidates if one.shown in rows]
        named = People.of(rows[one.shown] for one in there).named(self.question.question, self.question.asker)
        order = plain_first(working_first((self._boosted(one, named.meant) for one in there), self.bodies), rows)
        return shared(order, {one.turn_id: _said_by(rows[one.shown]) for one in there}, named.all, self.question.k)

    def _boosted(self, one: Candidate, meant: frozenset[str]) -> Candidate:
        names = dict.fromkeys((one.shown, one.own, one.item))
        records = [self.bodies.rows[name] for name in names if name is not None and name in self.bodies.rows]
        by = SPEAKER if meant and _said_by(records[0]) in meant else 0
        timely = self.plan.time * fit(self.sought, records, self.bodies.ends) // UNIT if self.sought else 0
        return one.plus("speaker", by).plus("time", timely).plus("branch", self._affinity(one.branch))

    def _affinity(self, branch: int | None) -> int:
        placed = self.placement
        if placed is None or placed.rule is Rule.NEW_ROOT or branch != placed.branch:
            return 0
        return self.plan.branch * BRANCH // UNIT


def _said_by(row: RecordRow) -> str | None:
    return row.speaker.id if row.speaker is not None else row.owner


def shared(
    order: Sequence[Candidate], said_by: Mapping[str, str | None], named: Collection[str], k: int
) -> list[Candidate]:
    """Return the order with the first ``k`` places shared where several people are named, the rest behind.

    Stands in for a retrieval on each one's bundle (AdaMem 3.3, targets "both" and "ambiguous"): half of the places are
    kept for the named in equal parts, filled with the best of each that the one retrieval found. It costs no read.
    """
    part = k // (2 * len(named)) if len(named) > 1 else 0
    kept = {one.turn_id for who in named for one in _first_of(order, who, said_by, part)}
    free = [one for one in order if one.turn_id not in kept]
    first = kept | {one.turn_id for one in free[: max(0, k - len(kept))]}
    return sorted(order, key=lambda one: one.turn_id not in first)  # stable: within each half the order stays


def _first_of(
    order: Iterable[Candidate], who: str, said_by: Mapping[str, str | None], count: int
) -> Iterable[Candidate]:
    return islice((one for one in order if said_by[one.turn_id] == who), count)


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
