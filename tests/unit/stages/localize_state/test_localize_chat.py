"""A user and an agent with several tasks at once: the branch is resumed, not the last turn."""

from __future__ import annotations

import pytest

from schemas.localized import Rule
from tests.fakes.forest import Grove

TASKS = {
    "trip": (
        "I want to plan a hiking trip in the Dolomites in July",
        "Which mountain hut in the Dolomites do you like?",
    ),
    "paper": ("Please help me shorten the abstract of my neuroscience paper", "Paste the abstract of the paper here."),
    "cake": ("I need a recipe for a lemon cake with almond flour", "Lemon cake: almond flour, eggs, sugar, lemons."),
}


async def tasks(filler: int = 0) -> Grove:
    grove = Grove()
    for opening, answer in TASKS.values():
        await grove.say("mia", opening, after=40)
        await grove.say("bot", answer)
    for number in range(filler):
        await grove.say("mia", f"What is {number} times seven?", after=2)
        await grove.say("bot", f"{number} times seven gives {7 * number}")
    return grove


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        ("Which boots for hiking in the Dolomites in July?", 0),
        ("Here comes the abstract of the neuroscience paper", 2),
        ("How much almond flour goes into the lemon cake?", 4),
    ],
)
@pytest.mark.parametrize("filler", [0, 60])
async def test_a_task_is_resumed_at_its_newest_turn(text: str, branch: int, filler: int) -> None:
    grove = await tasks(filler)
    placement = await grove.say("mia", text, after=5)
    assert (placement.rule, placement.branch) == (Rule.RANKED, branch)
    assert placement.parent_position is not None
    assert placement.parent_position >= branch
    if not filler:
        assert placement.parent_position == branch + 1
        assert placement.path_summary.startswith("mia: I want" if branch == 0 else "mia: ")
    else:
        assert grove.history.reads["nearest"] == grove.history.reads["lexical"]


async def test_a_new_task_is_a_new_branch() -> None:
    grove = await tasks()
    placement = await grove.say("mia", "Can you find me a cheap flight to Lisbon for Christmas?", after=60)
    assert (placement.rule, placement.branch) == (Rule.NEW_ROOT, 6)


async def test_the_answer_to_a_question_stays_with_the_active_task() -> None:
    grove = await tasks()
    await grove.say("mia", "I also need a train ticket to Vienna", after=9)
    await grove.say("bot", "For which day do you want the train ticket?")
    assert (await grove.say("mia", "On Friday the 12th in the morning please")).parent_turn_id == "t7"


async def test_two_people_who_talk_stay_in_one_branch() -> None:
    grove = Grove()
    lines = [
        ("ann", "Hey Ben! I started pottery classes last month"),
        ("ben", "Wow, pottery! How did you get into it?"),
        ("ann", "My sister took me to a pottery workshop and I loved it"),
        ("ben", "That sounds fun. What did you make there?"),
        ("ann", "I made a bowl, and my sister made a cup"),
        ("ben", "A bowl is not easy for a start, well done!"),
    ]
    for who, text in lines:
        await grove.say(who, text, session="1")
    assert {place.branch for place in grove.placements.values()} == {0}
    assert [place.parent_position for place in grove.placements.values()][1:] == [0, 1, 2, 3, 4]


async def test_a_text_that_is_not_published_is_judged_alike_and_leaves_no_trace() -> None:
    grove = await tasks()
    before = grove.state.parts()
    twin = Grove(history=grove.history, state=grove.state, position=grove.position, minutes=grove.minutes)
    text = "How much almond flour goes into the lemon cake?"
    assert await grove.say("mia", text) == await twin.say("mia", text)
    assert before == (await tasks()).state.parts()
