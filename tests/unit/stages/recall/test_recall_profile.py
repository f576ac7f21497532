"""Persona and topic records: what suits a question, and their lines in a bundle."""

from __future__ import annotations

from typing import Any

from schemas.localized import Placement, Rule
from schemas.memory import CloseCause, ClosedRow, RecordKind, RecordRow
from schemas.recall import ContextInput, Line, Part, Question
from schemas.turn import Speaker
from stages.recall import Recall
from stages.recall.bundle import ABOUT_SHARE
from tests.fakes.asked import filler
from tests.fakes.told import BEN, MIA, Said, Told
from tests.unit.stages.recall.test_recall_context import Placing

BOTH = [Said("t1", MIA, "Tea it is"), Said("t2", BEN, "Coffee for me"), *filler()]


def about(told: Told, kind: RecordKind, text: str, ordinal: int = 0, **fields: Any) -> RecordRow:
    owner: Speaker | None = fields.pop("owner", None)
    row = told.row(told.turns[0], kind, text, ordinal, **{"run": "night-1", "provenance": ("t1",), **fields})
    return row.model_copy(update={"owner": owner.id if owner else None, "speaker": None})


async def night(*rows: tuple[RecordKind, str, Speaker | None]) -> Told:
    told = await Told().say(*BOTH)
    await told.event([about(told, kind, text, n, owner=owner) for n, (kind, text, owner) in enumerate(rows)])
    return told


PERSONA, TOPIC = RecordKind.PERSONA, RecordKind.TOPIC
TASTES = (
    (PERSONA, "likes green tea in the morning", MIA),
    (PERSONA, "likes strong coffee", BEN),
    (TOPIC, "what everybody drinks: tea and coffee", None),
    (PERSONA, "rides a bicycle to work", MIA),
)


async def profile(told: Told, question: str, limit: int = 9, **fields: Any) -> list[str]:
    rows = await Recall(told.index, told.embedder).profile(told.space, Question(question=question, **fields), limit)
    return [row.text for row in rows]


async def test_what_suits_comes_first() -> None:
    told = await night(*TASTES)
    assert (await profile(told, "a bicycle to work?"))[0] == "rides a bicycle to work"
    assert (await profile(told, "strong coffee?"))[0] == "likes strong coffee"
    assert len(await profile(told, "strong coffee?")) == 4
    assert await profile(told, "strong coffee?", limit=1) == ["likes strong coffee"]
    assert await profile(told, "strong coffee?", limit=0) == []


async def test_those_of_whom_the_question_means_are_preferred() -> None:
    told = await night(*TASTES)
    assert (await profile(told, "What does Ben like in the morning?"))[0] == "likes strong coffee"
    mine = await profile(told, "Do I like strong coffee?", asker=MIA.id)
    assert mine[-1] == "likes strong coffee"  # Ben's, though nothing is nearer


async def test_closed_ones_and_the_names_that_route_wrote_are_not_there() -> None:
    told = await night(*TASTES)
    rows = [kept.row for kept in told.index.records[told.space].values() if kept.row.kind is PERSONA]
    plain = about(told, TOPIC, "tea", 9, run=None)
    at = len(told.turns) - 1
    closings = [
        ClosedRow(space=told.space, id=row.id, until=at, cause=CloseCause.MERGE) for row in rows if row.owner == MIA.id
    ]
    await told.event([plain, *closings])
    assert set(await profile(told, "tea and coffee, Mia?")) == {TASTES[1][1], TASTES[2][1]}


async def test_what_rests_on_the_asking_turn_or_came_later_is_not_there() -> None:
    told = await night(*TASTES)
    assert await profile(told, "tea?", for_turn="t1") == []
    assert await profile(told, "tea?", as_of=3) == []


async def test_a_space_without_a_night_has_no_profile() -> None:
    assert await profile(Told(), "tea?") == []
    assert await profile(await Told().say(*BOTH), "tea?") == []


async def lines(told: Told, text: str, budget: int = 4000) -> list[Line]:
    placing = Placing(Placement(rule=Rule.NEW_ROOT, branch=99, interaction=99))
    recall = Recall(told.index, told.embedder, placing)
    bundle = await recall.context(told.space, ContextInput(text=text, speaker=MIA.id), budget)
    return list(bundle.lines)


def facts(shown: list[Line]) -> list[str]:
    return [line.text for line in shown if line.part is Part.FACT]


async def test_a_bundle_tells_what_is_known_of_whom_it_means_and_of_its_topics() -> None:
    told = await night(*TASTES)
    shown = await lines(told, "What tea do I drink in the morning?")
    assert facts(shown) == [TASTES[0][1], TASTES[3][1], TASTES[2][1]]  # nothing of Ben's
    assert {line.turn_ids for line in shown if line.part is Part.FACT} == {("t1",)}


async def test_it_says_nothing_in_general_where_nobody_is_meant_and_no_topic_is_found() -> None:
    told = await night(*TASTES[:2])
    assert facts(await lines(told, "Tea?")) == []


async def test_what_is_known_in_general_keeps_to_its_share() -> None:
    told = await night(*TASTES)
    budget = 120
    shown = await lines(told, "What tea do I drink in the morning?", budget)
    assert facts(shown) == [TASTES[0][1]]
    assert sum(line.tokens for line in shown if line.part is Part.FACT) <= budget * ABOUT_SHARE // 100
    assert sum(line.tokens for line in shown) <= budget
