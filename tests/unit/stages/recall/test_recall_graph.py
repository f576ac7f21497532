"""The graph at recall: a hand-made one whose scores are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.memory import CloseCause, ClosedRow, EdgeRow, EdgeType, RecordKind
from schemas.recall import Question
from schemas.space import Space
from stages.ports import Match
from stages.recall.bodies import Bodies
from stages.recall.fusion import Fusion
from stages.recall.graph import TAU_DROP, Graph, Reached, reactivated, seeded, spread, ways
from stages.recall.plan import Cue, Plan
from stages.recall.pool import Hits, pooled
from stages.recall.recall import Recall
from stages.recall.retrieve import seen
from tests.fakes.asked import filler
from tests.fakes.told import BEN, MIA, Said, Told

SPACE = Space("acme/u-1")
PRIORS = {
    EdgeType.NEXT: 80,
    EdgeType.PREVIOUS: 80,
    EdgeType.SUPPORTS: 100,
    EdgeType.MENTIONS: 50,
    EdgeType.CONTINUES: 90,
}
PLAN = Plan(Cue.RELATION, hops=2, seeds=2, priors=PRIORS, graph=1000, context=1000)


def edge(source: str, target: str, kind: EdgeType, strength: int, since: int = 0) -> EdgeRow:
    return EdgeRow(space=SPACE, source=source, target=target, type=kind, strength=strength, since=since)


def test_a_hop_is_score_by_prior_by_strength_by_decay() -> None:
    edges = [
        edge("a", "b", EdgeType.NEXT, 70),
        edge("b", "a", EdgeType.PREVIOUS, 35),
        edge("a", "fact", EdgeType.SUPPORTS, 85),
        edge("c", "fact", EdgeType.SUPPORTS, 85),
    ]
    # 1000 x 0.80 x 0.70 x 0.85 = 476; 1000 x 1.00 x 0.85 x 0.85 = 722.5
    assert spread({"a": 1000}, ways(edges, PRIORS)) == {"b": 476, "fact": 722}
    # the way back along the timeline is an edge of its own: 1000 x 0.80 x 0.35 x 0.85 = 238
    assert spread({"b": 1000}, ways(edges, PRIORS)) == {"a": 238}
    # supports are walked both ways: 722 x 0.85 x 0.85 = 521.6
    assert spread({"fact": 722}, ways(edges, PRIORS)) == {"a": 521, "c": 521}


def test_the_best_path_counts_never_their_sum() -> None:
    edges = [edge("a", "c", EdgeType.NEXT, 90), edge("b", "c", EdgeType.NEXT, 50)]
    assert spread({"a": 500, "b": 1000}, ways(edges, PRIORS)) == {
        "c": 340
    }  # 500 x .8 x .9 x .85 = 306; 1000 x .8 x .5 x .85


def test_an_edge_without_a_prior_leads_nowhere() -> None:
    assert spread({"a": 1000}, ways([edge("a", "b", EdgeType.SUPERSEDES, 100)], PRIORS)) == {}


def test_seeds_are_shares_of_the_best() -> None:
    assert seeded({"t1": 8000, "t2": 2000, "t3": -5}) == {"t1": 1000, "t2": 250}
    assert seeded({}) == seeded({"t1": 0}) == {}


def fact(turn: str, score: int, *others: str, kind: RecordKind = RecordKind.FACT) -> Match:
    return Match(f"{kind}-{turn}", kind, turn, 0, score, others=others)


def test_context_is_reactivated_until_the_first_drop_over_tau() -> None:
    # 0.1 of a cosine is 1,612.9 of a dot product of vectors of length 127
    matches = [fact("t1", 9000), fact("t2", 9000 - TAU_DROP), fact("t3", 9000 - 2 * TAU_DROP - 1), fact("t4", 5000)]
    assert reactivated(matches) == {"t1": 1000, "t2": 1000 * (9000 - TAU_DROP) // 9000}
    assert TAU_DROP == 1612


def test_only_facts_are_scanned_and_each_turn_of_theirs_counts_once() -> None:
    turn = fact("t0", 9900, kind=RecordKind.TURN)
    assert reactivated([turn, fact("t1", 9000, "t5"), fact("t1", 8000)]) == {"t1": 1000, "t5": 1000}
    assert reactivated([turn]) == reactivated([fact("t1", -3)]) == reactivated([]) == {}


def test_where_nothing_drops_there_is_an_end_too() -> None:
    assert len(reactivated([fact(f"t{n}", 9000 - n) for n in range(40)])) == 8


async def told() -> Told:
    """Four turns: t1 is near t2, both support one fact; t3 mentions the topic of t2; t4 is beyond two hops of t1."""
    said = [Said(f"t{n}", MIA if n % 2 else BEN, f"turn number {n}", days=n) for n in range(1, 5)]
    told = await Told().say(said[0])
    own = [Told(turns=said).row_id(one.turn_id, "turn") for one in said]
    await told.say(said[1])
    await told.event(_at(told, edge(own[0], own[1], EdgeType.NEXT, 70), edge(own[1], "topic", EdgeType.MENTIONS, 80)))
    await told.say(said[2])
    await told.event(_at(told, edge(own[2], "topic", EdgeType.MENTIONS, 80), edge(own[1], own[2], EdgeType.NEXT, 70)))
    await told.say(said[3])
    await told.event(_at(told, edge(own[2], own[3], EdgeType.NEXT, 70)))
    return told


def _at(told: Told, *edges: EdgeRow) -> list[EdgeRow]:
    told.index.woven.setdefault(told.space, {})[len(told.turns) - 1] = list(edges)
    return []


async def graph(told: Told, plan: Plan = PLAN, as_of: int | None = None) -> Graph:
    scope = await seen(told.index, told.space, Question(question="?", as_of=as_of))
    return Graph(told.index, scope, plan, {said.turn_id: n for n, said in enumerate(told.turns)})


async def test_two_hops_reach_what_is_two_edges_away_and_no_further() -> None:
    memory = await told()
    reached = await (await graph(memory)).reached({"t1": 1000}, {})
    own = [memory.row_id(f"t{n}", "turn") for n in range(1, 5)]
    # t2: 1000 x .8 x .7 x .85; its topic: 476 x .5 x .8 x .85 = 161; t3: 476 x .8 x .7 x .85 = 226
    assert reached.records == {own[1]: 476, "topic": 161, own[2]: 226}
    one_hop = await (await graph(memory, replace(PLAN, hops=1))).reached({"t1": 1000}, {})
    assert one_hop.records == {own[1]: 476}


async def test_no_seed_gains_by_the_way_back_to_it() -> None:
    memory = await told()
    own, fact = memory.row_id("t1", "turn"), "a fact"
    _at(memory, edge(own, fact, EdgeType.SUPPORTS, 85))
    reached = await (await graph(memory)).reached({"t1": 1000}, {})
    assert own not in reached.records
    other = edge(memory.row_id("t4", "turn"), fact, EdgeType.SUPPORTS, 85)
    _at(memory, edge(own, fact, EdgeType.SUPPORTS, 85), other)
    both = await (await graph(memory)).reached({"t1": 1000, "t4": 500}, {})
    assert both.records[own] == 260  # by t4: 500 x .85 x .85 = 361, 361 x .85 x .85 = 260


async def test_what_came_later_than_the_question_is_not_reached() -> None:
    memory = await told()
    reached = await (await graph(memory, as_of=1)).reached({"t1": 1000}, {})
    assert memory.row_id("t3", "turn") not in reached.records


async def test_the_context_of_facts_is_one_hop_along_the_branch_and_the_timeline() -> None:
    memory = await told()
    reached = await (await graph(memory)).reached({}, {"t2": 500})
    assert reached.context == {memory.row_id("t3", "turn"): 238}  # 500 x .8 x .7 x .85; no topic


async def test_topic_and_persona_records_tie_the_turns_they_rest_on() -> None:
    memory = await told()
    first = memory.turns[0]
    about = memory.row(first, RecordKind.TOPIC, "boats", provenance=("t1", "t4"), run="night-1")
    plain = memory.row(first, RecordKind.TOPIC, "a name", 1, provenance=("t1", "t3"))
    await memory.event([about, plain])
    reached = await (await graph(memory)).reached({"t1": 1000}, {})
    # there 1000 x .5 x .75 x .85 = 318; and back 318 x .5 x .75 x .85 = 101
    assert reached.turns == {"t4": 101}
    assert ("t4",) in {row.provenance for row in reached.read.values()}


@pytest.mark.parametrize("kind", [RecordKind.TOPIC, RecordKind.FACT])
async def test_what_a_night_made_leads_on_until_it_is_taken_back(kind: RecordKind) -> None:
    memory, at = await told(), 4
    own = [memory.row_id(name, "turn") for name in ("t1", "t4")]
    made = memory.row(memory.turns[0], kind, "boats", 1, provenance=("t1", "t4"), run="night-1", since=at)
    await memory.event([made, *(edge(one, made.id, EdgeType.MENTIONS, 75, since=at) for one in own)], at)
    before = await (await graph(memory)).reached({"t1": 1000}, {})
    # there 1000 x .5 x .75 x .85 = 318; and back 318 x .5 x .75 x .85 = 101
    assert (before.records[made.id], before.records[own[1]]) == (318, 101)
    await memory.event([ClosedRow(space=memory.space, id=made.id, until=at + 1, cause=CloseCause.UNDO)], at + 1)
    after = await (await graph(memory)).reached({"t1": 1000}, {})
    assert not {made.id, own[1]} & after.records.keys()
    assert own[1] not in after.turns


async def test_a_night_that_was_taken_back_takes_no_room_from_what_is_near() -> None:
    """The second hop goes on from the best 32 records: closed ones are none of them."""
    memory, at = await told(), 4
    own = [memory.row_id(f"t{n}", "turn") for n in range(1, 5)]
    before = (await (await graph(memory)).reached({"t1": 1000}, {})).records
    names = [memory.row(memory.turns[0], RecordKind.TOPIC, f"topic {n}", n, run="n", since=at) for n in range(1, 40)]
    await memory.event([*names, *(edge(own[0], one.id, EdgeType.SUPPORTS, 100, since=at) for one in names)], at)
    gone = [ClosedRow(space=memory.space, id=one.id, until=at + 1, cause=CloseCause.UNDO) for one in names]
    await memory.event(gone, at + 1)
    assert (await (await graph(memory)).reached({"t1": 1000}, {})).records == before


async def test_at_most_two_reads_are_made_one_after_the_other() -> None:
    memory = await told()
    depth: list[int] = []

    class Counting:
        def __init__(self, inner: object) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> object:
            if name in {"edges", "matching"}:
                depth.append(1)
            return getattr(self.inner, name)

    walked = replace(await graph(memory), search=Counting(memory.index))  # type: ignore[arg-type]  # all is passed on
    await walked.reached({"t1": 1000}, {"t2": 500})
    assert len(depth) == 3  # two for edges, and beside the first one for topics and personas


QUESTION = "Why the harbour?"


async def harbour(*, by: str = "u-1") -> Told:
    speaker = MIA if by == "u-1" else BEN
    memory = await Told().say(
        Said("t1", MIA, "The harbour was the reason", days=1), *filler(), Said("t9", speaker, "Salt air", days=9)
    )
    link = edge(memory.row_id("t1", "turn"), memory.row_id("t9", "turn"), EdgeType.CONTINUED_BY, 90)
    _at(memory, link)
    return memory


async def why(memory: Told, turn_id: str, question: str = QUESTION) -> dict[str, float]:
    recalled = await Recall(memory.index, memory.embedder).recall(memory.space, Question(question=question, k=50))
    return next((hit.why for hit in recalled.hits if turn_id in hit.turn_ids), {})


async def test_a_turn_that_only_the_graph_reaches_is_evidence() -> None:
    memory = await harbour()
    assert (await why(memory, "t9"))["graph"] > 0
    assert "graph" not in await why(memory, "t9", "Who harbour?")  # single-hop: the graph is not asked


async def test_where_one_is_meant_only_their_turns_gain_by_the_graph() -> None:
    assert (await why(await harbour(), "t9", "Why the harbour, Mia?"))["graph"] > 0
    assert "graph" not in await why(await harbour(by="u-2"), "t9", "Why the harbour, Mia?")


async def test_a_closed_turn_is_not_brought_back_by_the_graph() -> None:
    memory = await harbour()
    gone = memory.row_id("t9", "turn")
    await memory.event([ClosedRow(space=memory.space, id=gone, until=len(memory.turns) - 1, cause=CloseCause.REVISION)])
    found = await Recall(memory.index, memory.embedder).recall(memory.space, Question(question=QUESTION, k=50))
    assert gone not in {hit.record_id for hit in found.hits}


async def test_what_led_to_a_record_that_a_night_took_in_leads_to_its_turn_until_it_is_changed() -> None:
    """Else a night, and its undo, would take from turns what only the absorbed record's own edges bring."""
    memory = await Told().say(Said("t1", MIA, "The harbour was the reason", days=1), *filler(), Said("t9", MIA, "Ah"))
    at = len(memory.turns)
    fact = memory.row(memory.turns[-1], RecordKind.FACT, "The air is salty.", since=at - 1)
    await memory.event([fact])
    _at(memory, edge(memory.row_id("t1", "turn"), fact.id, EdgeType.SUPPORTS, 100, since=at - 1))
    before = (await why(memory, "t9"))["graph"]
    merged = memory.row(memory.turns[-1], RecordKind.FACT, "The air is salty.", 1, since=at, run="night-1")
    gone = ClosedRow(space=memory.space, id=fact.id, until=at, cause=CloseCause.MERGE, successor=merged.id)
    await memory.event([merged, gone], at)
    assert (await why(memory, "t9"))["graph"] == before
    other = memory.row(memory.turns[0], RecordKind.FACT, "The air is dry.", 2, since=at + 1)
    gone = ClosedRow(space=memory.space, id=merged.id, until=at + 1, cause=CloseCause.CORRECTION, successor=other.id)
    await memory.event([other, gone], at + 1)
    assert "graph" not in await why(memory, "t9")


@pytest.mark.parametrize("asking", ["t9"])
async def test_the_turn_that_asks_is_not_reached(asking: str) -> None:
    memory = await harbour()
    recalled = await Recall(memory.index, memory.embedder).recall(
        memory.space, Question(question=QUESTION, for_turn=asking, k=50)
    )
    assert asking not in {name for hit in recalled.hits for name in hit.turn_ids}


async def test_each_part_has_its_weight_beside_the_baseline() -> None:
    memory = await harbour()
    known = memory.row(memory.turns[0], RecordKind.TURN, "The harbour was the reason")
    far = memory.row(memory.turns[-1], RecordKind.TURN, "Salt air")
    found = [Match(known.id, RecordKind.TURN, "t1", 0, 90), Match("other", RecordKind.TURN, "f1", 2, 10)]
    pool = pooled([Hits("dense", found)])
    plan = replace(PLAN, graph=500, context=2000, fact=100)
    reached = Reached({known.id: 400, far.id: 800}, {"f1": 300}, {far.id: 50})
    bodies = Bodies({row.id: row for row in (known, far)}, frozenset(), {}, {})
    fused = Fusion(plan, pool, {"t1": 700}, reached).fused(pool.best(9), bodies, frozenset())
    why = {one.turn_id: one.why for one in fused}
    # 500 x 0.4, 100 x 0.7; 500 x 0.3; 500 x 0.8, 2000 x 0.05
    assert (why["t1"]["graph"], why["t1"]["fact"]) == (200, 70)
    assert why["f1"]["graph"] == 150
    assert why["t9"] == {"graph": 400, "context": 100}
    assert {one.turn_id: one.score for one in fused}["t9"] == pool.floor + 500
    assert Fusion(Plan(Cue.SINGLE_HOP), pool).fused(pool.best(9), bodies, frozenset()) == pool.best(9)


async def test_the_turn_beside_a_fact_that_fits_is_reactivated() -> None:
    memory = await Told().say(
        Said("t1", MIA, "hm", items=("Mia moors at the old harbour",)), Said("t2", BEN, "zzz"), *filler()
    )
    _at(memory, edge(memory.row_id("t1", "turn"), memory.row_id("t2", "turn"), EdgeType.NEXT, 70))
    found = await why(memory, "t2", "Why the old harbour moors?")
    assert found["context"] > 0
