"""A question for the n-th member of a list: which questions are one, which list is meant, what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.memory import ChangedRow, RecordKind, RecordRow
from schemas.recall import Hit, Part, Question
from schemas.structured import Form
from stages.recall import Recall
from stages.recall.member import Asked, asked
from stages.text.ordinals import Ordinal
from tests.fakes.told import BOT, MIA, Said, Told
from tests.unit.stages.recall.test_recall_context import after, bundle

CAFES = ("Fig Tree", "Noodle Hut", "Olive Bar")

ASKED: dict[str, Asked | None] = {
    "What was the third one you suggested?": Asked(Ordinal(3)),
    "which was the second step": Asked(Ordinal(2)),
    "last item on that list?": Asked(Ordinal(-1)),
    "What was number 4?": Asked(Ordinal(4, by_number=True)),
    "and #\uff12?": Asked(Ordinal(2, by_number=True)),
    "What was the third Italian restaurant you found?": Asked(Ordinal(3), frozenset({"restaur"})),
    "What was the second thing you recommended?": Asked(Ordinal(2)),
    "第三个是什么": Asked(Ordinal(3)),
    "Who came last?": None,
    "What did I do first?": None,
    "Where was I in 12 days?": None,
    "What happened on 4 May?": None,
    "Which cafés did you suggest?": None,
}


@pytest.mark.parametrize("question", ASKED)
def test_which_questions_ask_for_a_member(question: str) -> None:
    assert asked(question) == ASKED[question]


@pytest.mark.parametrize(
    "question", ["What happened last week?", "When was the first time I sailed?", "my second marathon"]
)
def test_an_ordinal_of_something_else_fits_no_list(question: str) -> None:
    found = asked(question)
    assert found is None or found.nouns


@pytest.mark.parametrize(
    "question",
    [
        "Did I run a marathon last week?",
        "Did I follow your plan last month?",
        "Who came last Friday evening?",
        "When was the first time I sailed?",
        "What did I do the second day in Oslo?",
    ],
)
def test_a_time_is_no_member(question: str) -> None:
    assert asked(question) is None


def test_the_day_of_a_plan_is_a_member() -> None:
    assert asked("What was on the second day of the plan you made?") == Asked(Ordinal(2), frozenset({"day"}))


async def test_last_week_raises_no_list_of_a_week() -> None:
    told = await chat()
    await told.event([listing(told, "t5", "Your meal plan for the week", ("rice", "soup"))])
    assert "ordinal" not in (await first(told, "Did I run a marathon last week?")).why


def listing(
    told: Told, turn_id: str, heading: str, members: tuple[str, ...], ordinal: int = 0, **more: Any
) -> RecordRow:
    said = next(one for one in told.turns if one.turn_id == turn_id)
    text = f"{heading}:\n" + "\n".join(f"{n}. {member}" for n, member in enumerate(members, 1))
    values = {"form": Form.LIST, "heading": heading, "members": members} | more
    return told.row(said, RecordKind.STRUCTURED, text, ordinal, **values)


async def chat() -> Told:
    told = Told()
    await told.say(Said("t1", MIA, "Where can I eat?"), Said("t2", BOT, "Cafés to try: as listed."))
    await told.event([listing(told, "t2", "Cafés to try", CAFES)])
    await told.say(Said("t3", MIA, "And boats?"), Said("t4", BOT, "Boats to hire: as listed."))
    await told.event([listing(told, "t4", "Boats to hire", ("punt", "canoe"))])
    return await told.say(Said("t5", MIA, "Thanks."))


async def first(told: Told, question: str, **more: Any) -> Hit:
    found = await Recall(told.index, told.embedder).recall(told.space, Question(question=question, **more))
    return found.hits[0]


@pytest.mark.parametrize(
    ("question", "turn", "shown"),
    [
        ("What was the second one you suggested?", "t4", "2. canoe"),
        ("What was the third one you suggested?", "t2", "3. Olive Bar"),
        ("Which was the second café you suggested?", "t2", "2. Noodle Hut"),
        ("What was number 1 of the cafés to try?", "t2", "1. Fig Tree"),
        ("the last boat on that list", "t4", "2. canoe"),
        ("第二个", "t4", "2. canoe"),
    ],
)
async def test_the_list_that_fits_best_shows_its_member(question: str, turn: str, shown: str) -> None:
    hit = await first(await chat(), question)
    assert (hit.kind, hit.turn_ids) == (RecordKind.STRUCTURED, (turn,))
    assert hit.text.startswith(f"{shown}\n[of the list of ")
    assert f"in {turn}]" in hit.text
    assert hit.why["ordinal"] > 0


async def test_a_number_that_no_list_has_raises_nothing() -> None:
    hit = await first(await chat(), "What was number 9 of the cafés?")
    assert "ordinal" not in hit.why


async def test_numbers_are_those_that_the_list_writes() -> None:
    told = await chat()
    await told.event([listing(told, "t5", "Teas to buy", ("mint", "oolong"), numbers=(2, 4))])
    assert (await first(told, "number 4 of the teas")).text.startswith("4. oolong")
    assert (await first(told, "the second tea to buy")).text.startswith("4. oolong")


async def changed() -> Told:
    """The list of cafés is edited two turns later."""
    told = await chat()
    await told.say(Said("t6", MIA, "Replace the last café with Red Door."))
    new = listing(told, "t6", "Cafés to try", (*CAFES[:2], "Red Door"), provenance=("t6", "t2"), revision=1)
    old = told.row_id("t2", "structured")
    mark = ChangedRow(space=told.space, id=old, position=len(told.turns) - 1, successor=new.id)
    await told.event([new, mark])
    return told


async def test_the_newest_revision_is_shown_and_an_earlier_question_sees_the_earlier_one() -> None:
    told = await changed()
    now = await first(told, "What was the third café?")
    assert now.text.startswith("3. Red Door\n[of the list of 3 in t2, edited in t6, revision 1]")
    assert now.turn_ids == ("t6", "t2")
    assert (await first(told, "What was the third café?", as_of=4)).text.startswith("3. Olive Bar")


async def test_a_turn_is_no_evidence_for_its_own_question() -> None:
    told = await changed()
    hit = await first(told, "What was the third café?", for_turn="t6")
    assert hit.text.startswith("3. Olive Bar")


async def test_the_member_is_a_part_of_the_bundle() -> None:
    told = await chat()
    got = await bundle(told, after(told, "t5"), text="What was the second café you suggested?")
    (line, *_) = [line for line in got.lines if line.part is Part.STRUCTURED]
    assert line.text.startswith("2. Noodle Hut")
