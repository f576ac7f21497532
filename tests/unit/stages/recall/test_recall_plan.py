from __future__ import annotations

import pytest

from schemas.memory import EdgeType
from stages.recall.plan import Cue, planned

TABLE = [
    ("When did Ana move to Lisbon?", Cue.TEMPORAL),
    ("Why did Ana leave before winter?", Cue.TEMPORAL),  # temporal goes before relation
    ("What did Ana say last week?", Cue.TEMPORAL),  # … and before single-hop
    ("Why does Ana like chess?", Cue.RELATION),  # relation goes before attribute
    ("How do Ana and Ben know each other?", Cue.RELATION),
    ("What does Ana like to cook?", Cue.ATTRIBUTE),  # attribute goes before single-hop
    ("Ana's favourite tea", Cue.ATTRIBUTE),
    ("Who is Ben?", Cue.SINGLE_HOP),
    ("WHERE does Ana live", Cue.SINGLE_HOP),
    ("Would Ana enjoy a museum?", Cue.OPEN),
    ("Anas Umzug", Cue.OPEN),
    ("…", Cue.OPEN),
    ("The whenever and the likeness", Cue.OPEN),  # whole words only
]


@pytest.mark.parametrize(("question", "cue"), TABLE)
def test_the_first_kind_of_cue_decides(question: str, cue: Cue) -> None:
    assert planned(question).cue is cue


def test_simple_questions_stay_with_the_baseline() -> None:
    plan = planned("Who is Ben?")
    assert (plan.is_graph, plan.hops, plan.seeds) == (False, 0, 0)


@pytest.mark.parametrize("question", [question for question, cue in TABLE if cue is not Cue.SINGLE_HOP])
def test_others_ask_the_graph_over_two_hops_at_most(question: str) -> None:
    plan = planned(question)
    assert plan.is_graph
    assert 1 <= plan.hops <= 2
    assert plan.seeds > 0
    assert plan.priors.keys() == set(EdgeType)
    assert all(0 < prior <= 125 for prior in plan.priors.values())


def test_questions_raise_the_edges_they_are_after() -> None:
    plain = planned("Would Ana enjoy a museum?").priors
    temporal = planned("When did Ana move?").priors
    attribute = planned("What does Ana like?").priors
    raised = {kind for kind in EdgeType if temporal[kind] > plain[kind]}
    assert raised == {EdgeType.NEXT, EdgeType.PREVIOUS, EdgeType.SPEAKER_NEXT, EdgeType.SPEAKER_PREVIOUS}
    assert {kind for kind in EdgeType if attribute[kind] > plain[kind]} == {EdgeType.SPEAKER_RELATED}
