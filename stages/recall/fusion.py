"""One order of what the baseline found and what the graph, the context of facts and the facts themselves add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from schemas.memory import ITEM_KINDS, RecordKind, RecordRow
from stages.ports import Search
from stages.recall.bodies import Bodies
from stages.recall.candidate import Candidate, ranked
from stages.recall.graph import NOTHING, Graph, Reached, Scores, reactivated, seeded
from stages.recall.plan import Plan, planned
from stages.recall.pool import Hits, Pool, pooled
from stages.recall.retrieve import Scope
from stages.recall.scale import UNIT

_SAYING = frozenset({RecordKind.TURN, *ITEM_KINDS})
"""Records that are evidence of the turns they rest on; topics and personas only lead to them."""

_BROUGHT = 20
"""Turns that only the graph brings, the best of them: twice the usual k, as of what the baseline finds."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """What the baseline found of ``question``, and the parts beside it, by ``plan``."""

    plan: Plan
    pool: Pool
    facts: Scores = field(default_factory=dict)
    reached: Reached = NOTHING

    @classmethod
    async def of(cls, search: Search, scope: Scope, question: str, found: Sequence[Hits]) -> Self:
        """Plan how a question is answered, and ask the graph where the plan says so.

        Raises:
            Unavailable: if the index does not answer.
        """
        plan, pool = planned(question), pooled(found, scope.windowless)
        if not plan.is_graph:
            return cls(plan, pool)
        facts = reactivated(next((hits.matches for hits in found if hits.name == "dense"), ()))
        seeds = seeded(pool.leading(plan.seeds))
        return cls(plan, pool, facts, await Graph(search, scope, plan, pool.positions()).reached(seeds, facts))

    def fused(self, best: Sequence[Candidate], bodies: Bodies, meant: frozenset[str]) -> Sequence[Candidate]:
        """Return the candidates with what the other parts give them, and those that only the graph brought.

        ``meant`` are the participants that the question is about: where it is one, only their turns gain by the graph.
        """
        if not self.plan.is_graph:
            return best
        graph = _by_turn(self.reached.records, {**bodies.absorbed, **bodies.rows}, self.reached.turns)
        context = _by_turn(self.reached.context, bodies.rows, {})
        own = _own(bodies.rows.values())
        brought = [turn_id for turn_id in {**graph, **context} if turn_id in own]
        known = {one.turn_id for one in best}
        bare = self.pool.bare([turn_id for turn_id in brought if turn_id not in known])
        if len(meant) == 1:
            graph = {
                turn_id: score for turn_id, score in graph.items() if turn_id in own and own[turn_id].owner in meant
            }
        more = ranked(self._plus(_bare(own[turn_id], score), graph, context) for turn_id, score in bare.items())
        return ranked([*(self._plus(one, graph, context) for one in best), *more[:_BROUGHT]])

    def _plus(self, one: Candidate, graph: Scores, context: Scores) -> Candidate:
        plan, turn_id = self.plan, one.turn_id
        return (
            one.plus("graph", plan.graph * graph.get(turn_id, 0) // UNIT)
            .plus("context", plan.context * context.get(turn_id, 0) // UNIT)
            .plus("fact", plan.fact * self.facts.get(turn_id, 0) // UNIT)
        )


def _by_turn(scores: Scores, rows: Mapping[str, RecordRow], turns: Scores) -> dict[str, int]:
    """Return scores by the turns that the records reached rest on: the best of each turn counts."""
    found = dict(turns)
    for name, score in scores.items():
        row = rows.get(name)
        if row is not None and row.kind in _SAYING:
            for turn_id in row.provenance:
                found[turn_id] = max(found.get(turn_id, 0), score)
    return found


def _own(rows: Iterable[RecordRow]) -> dict[str, RecordRow]:
    """Return the first piece of each turn that was read."""
    pieces = sorted((row for row in rows if row.kind is RecordKind.TURN), key=lambda row: -row.piece)
    return {row.provenance[0]: row for row in pieces}


def _bare(row: RecordRow, score: int) -> Candidate:
    """Return the candidate of a turn that the graph brought, shown by its own record."""
    return Candidate(row.provenance[0], score, {}, row.id, own=row.id, branch=row.branch)
