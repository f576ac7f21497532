"""What the typed graph reaches from the best turns and from the facts that fit (AdaMem, 3.3 and C.2)."""

from __future__ import annotations

from asyncio import gather
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from schemas.header import RecordRole, record_id
from schemas.memory import ITEM_KINDS, EdgeRow, EdgeType, RecordKind, RecordRow
from stages.ports import Found, Match, Search
from stages.recall.plan import Plan
from stages.recall.retrieve import TURNS, Scope
from stages.recall.scale import UNIT
from stages.woven import Woven

DECAY: Final = 85
"""Hundredths that are left of a score after each hop (the paper's)."""

_SCALE: Final = 100 * 100 * 100
"""Prior, strength and decay are hundredths each."""

_BOTH_WAYS: Final = frozenset(
    {EdgeType.MENTIONS, EdgeType.SUPPORTS, EdgeType.SAME_TOPIC, EdgeType.SPEAKER_RELATED, EdgeType.SUPERSEDES}
)
"""Edges walked against their direction too, and as strong; each of the others has one of its own for the way back."""

CONTEXT: Final = frozenset({EdgeType.CONTINUES, EdgeType.CONTINUED_BY, EdgeType.NEXT, EdgeType.PREVIOUS})
"""Edges from a turn to its context: the branch that it stands in, and its neighbours."""

TAU_DROP: Final = 127 * 127 // 10
"""A drop of 0.1 between raw cosines, as dot products of int8 vectors (the paper's threshold)."""

_FACTS: Final = 8
"""Facts whose context is reactivated at most: where nothing drops there is no first one (ours)."""

_EVENTS: Final = 64
"""Turns whose edges are read for a hop, and as many nights': a topic of every day has thousands. The newest count."""

_FRONTIER: Final = 32
"""Records from which the second hop goes on: the best that turns lead to, and as many that nights do."""

_ABOUT: Final = frozenset({RecordKind.TOPIC, RecordKind.PERSONA})
_ABOUT_LIMIT: Final = 16
"""Topic and persona records read that rest on the seeds."""

_RESTING: Final = {RecordKind.TOPIC: 75, RecordKind.PERSONA: 80}
"""Strength, in hundredths, of the tie of a turn to what consolidation made of it: that of mentions and supports."""

_RESTING_TURNS: Final = 32
"""Turns read that such records rest on."""

Scores = Mapping[str, int]
"""Thousandths by record id."""


Ways = Mapping[str, Sequence[tuple[str, int]]]
"""Where one comes to from a record, and with which share of its score (of ``_SCALE``)."""


def ways(edges: Iterable[EdgeRow], priors: Mapping[EdgeType, int]) -> Ways:
    """Return where ``edges`` lead: with prior x strength x decay."""
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for edge in edges:
        share = priors.get(edge.type, 0) * edge.strength * DECAY
        found[edge.source].append((edge.target, share))
        if edge.type in _BOTH_WAYS:
            found[edge.target].append((edge.source, share))
    return found


def spread(scores: Scores, led: Ways) -> dict[str, int]:
    """Return what one hop gives to the records that it leads to: the best path's, never a sum."""
    given: dict[str, int] = {}
    for start, score in scores.items():
        for end, share in led.get(start, ()):
            amount = score * share // _SCALE
            if amount > given.get(end, 0):
                given[end] = amount
    return given


def reactivated(matches: Sequence[Match]) -> dict[str, int]:
    """Return the turns of the facts that fit best, with the share of the best one's score (thousandths).

    Facts are scanned best first until the first drop of more than ``TAU_DROP`` to the next one.
    """
    facts = [match for match in matches if match.kind in ITEM_KINDS and match.score > 0]
    until = next((n for n in range(1, len(facts)) if facts[n - 1].score - facts[n].score > TAU_DROP), len(facts))
    found: dict[str, int] = {}
    for fact in facts[: min(until, _FACTS)]:
        for turn_id in (fact.turn_id, *fact.others):
            found.setdefault(turn_id, UNIT * fact.score // facts[0].score)
    return found


def seeded(scores: Mapping[str, int]) -> dict[str, int]:
    """Return the best turns with the share of the best one's score (thousandths), none that scores nothing."""
    good = {turn_id: score for turn_id, score in scores.items() if score > 0}
    best = max(good.values(), default=1)
    return {turn_id: UNIT * score // best for turn_id, score in good.items()}


@dataclass(frozen=True, slots=True)
class Reached:
    """What was reached: records by id, and turns by turn id; ``context`` is what stands beside the facts that fit."""

    records: Scores = field(default_factory=dict)
    turns: Scores = field(default_factory=dict)
    context: Scores = field(default_factory=dict)
    read: Mapping[str, RecordRow] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """The records whose bodies are not there yet."""
        wanted = dict.fromkeys([*self.records, *self.context])
        return [name for name in wanted if name not in self.read]


NOTHING: Final = Reached()
"""Where the graph is not asked."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of what a question may see. ``positions`` are those of turns, where known."""

    search: Search
    scope: Scope
    plan: Plan
    positions: Mapping[str, int]

    async def reached(self, seeds: Scores, facts: Scores) -> Reached:
        """Walk from ``seeds``, and one hop along the context of ``facts``, both turns: a read for each hop.

        Raises:
            Unavailable: if the index does not answer.
        """
        first, beside = self._nodes(seeds), self._nodes(facts)
        edges, about = await gather(self._edges({**first, **beside}), self._about(seeds))
        context = spread(beside, ways((edge for edge in edges.of_turns if edge.type in CONTEXT), self.plan.priors))
        each = {name: {name: score} for name, score in first.items()}
        told, made = (_spread_each(each, ways(laid, self.plan.priors)) for laid in edges)
        near = {seed: _best([told[seed], made[seed]]) for seed in each}
        if self.plan.hops == 1:
            return Reached(_best(near.values()), {}, context)
        tied = _tied(about, seeds, self.plan.priors)
        front = {*_front(_best(told.values()), first), *_front(_best(made.values()), first)}
        further, rows = await gather(self._edges(sorted(front)), self._turns(tied))
        far = _spread_each(near, ways(further.every, self.plan.priors))
        read = {one.record.id: one.record for one in rows if self.scope.shows(one.record)}
        return Reached(_best([*near.values(), *far.values()]), tied, context, read)

    def _nodes(self, turns: Scores) -> dict[str, int]:
        """Return the records of turns: their ids follow from their positions."""
        known = {turn_id: self.positions[turn_id] for turn_id in turns if turn_id in self.positions}
        space = self.scope.space
        return {record_id(space, at, RecordRole.TURN): turns[turn_id] for turn_id, at in known.items()}

    async def _edges(self, nodes: Iterable[str]) -> Woven:
        return await self.search.edges(self.scope.space, self.scope.as_of, list(nodes), _EVENTS)

    async def _about(self, seeds: Scores) -> list[Found]:
        """Return the topic and persona records, made by consolidation, that rest on the seeds."""
        where = replace(self.scope.where(_ABOUT), turn_ids=frozenset(seeds))
        found = await self.search.matching(where, _ABOUT_LIMIT) if self.plan.hops > 1 and seeds else []
        return [one for one in found if one.record.run is not None and self.scope.shows(one.record)]

    async def _turns(self, tied: Scores) -> list[Found]:
        if not tied:
            return []
        return await self.search.matching(replace(self.scope.where(TURNS), turn_ids=frozenset(tied)), _RESTING_TURNS)


def _spread_each(scores: Mapping[str, Scores], led: Ways) -> dict[str, Scores]:
    """Return what one hop gives from each seed by itself: none gains by the way back to it."""
    given = {seed: spread(reached, led) for seed, reached in scores.items()}
    return {seed: {name: score for name, score in found.items() if name != seed} for seed, found in given.items()}


def _tied(about: Sequence[Found], seeds: Scores, priors: Mapping[EdgeType, int]) -> dict[str, int]:
    """Return the turns that topic and persona records tie to other seeds: two hops, there and back."""
    found: dict[str, int] = {}
    for row in (one.record for one in about):
        kind = EdgeType.MENTIONS if row.kind is RecordKind.TOPIC else EdgeType.SUPPORTS
        share = priors[kind] * _RESTING[row.kind] * DECAY
        for turn_id in row.provenance:
            others = (seeds.get(other, 0) for other in row.provenance if other != turn_id)
            score = max(others, default=0) * share // _SCALE * share // _SCALE
            if score > found.get(turn_id, 0):
                found[turn_id] = score
    return found


def _front(near: Scores, first: Scores) -> list[str]:
    """Return the records from which the second hop goes on."""
    fresh = (name for name in near if near[name] > first.get(name, 0))
    return sorted(fresh, key=lambda name: (-near[name], name))[:_FRONTIER]


def _best(given: Iterable[Scores]) -> dict[str, int]:
    best: dict[str, int] = {}
    for scores in given:
        for name, score in scores.items():
            best[name] = max(best.get(name, 0), score)
    return best
