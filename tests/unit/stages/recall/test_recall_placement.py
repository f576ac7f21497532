"""The branch of a question: where it hangs now, or where its own turn was placed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from schemas.localized import Placement, Rule
from schemas.recall import Question
from schemas.space import Space
from stages.recall import Recall
from tests.fakes.asked import filler
from tests.fakes.told import BOT, MIA, START, Said, Told


@dataclass
class Pointing:
    """A localizer that always answers the same."""

    placement: Placement
    asked: list[tuple[str, str | None, datetime | None]] = field(default_factory=list)

    async def locate(self, space: Space, text: str, speaker: str | None, at: datetime | None) -> Placement:
        self.asked.append((text, speaker, at))
        return self.placement


def twins() -> list[Said]:
    return [
        Said("h1", MIA, "a hotel in Bath please", session="a"),
        *filler(0),
        Said("h2", MIA, "a hotel in York please", session="b"),
        *filler(10),
        Said("a", BOT, "booked for two nights", session="c", parent="h1"),
        *filler(20),
        Said("b", BOT, "booked for two nights", session="d", parent="h2"),
        *filler(30),
    ]


@pytest.mark.parametrize(("branch", "first"), [(0, "a"), (7, "b")])
async def test_the_branch_that_the_question_resumes_decides_between_twins(branch: int, first: str) -> None:
    told = await Told().say(*twins())
    there = Placement(rule=Rule.RANKED, branch=branch, interaction=branch, parent_turn_id="h1")
    recall = Recall(told.index, told.embedder, Pointing(there))
    found = (await recall.recall(told.space, Question(question="booked for how many nights?", asker="mia"))).hits
    assert found[0].turn_ids == (first,)
    assert found[0].why["branch"] > 0


async def test_a_question_that_resumes_nothing_has_no_branch() -> None:
    told = await Told().say(*twins())
    nowhere = Placement(rule=Rule.NEW_ROOT, branch=0, interaction=0)
    recall = Recall(told.index, told.embedder, Pointing(nowhere))
    found = (await recall.recall(told.space, Question(question="booked for how many nights?", asker="mia"))).hits
    assert not any("branch" in hit.why for hit in found)


async def test_the_asking_turn_is_where_it_was_placed_not_where_it_would_hang_now() -> None:
    told = await Told().say(*twins(), Said("q", MIA, "booked for how many nights?", session="e", parent="h1"))
    now = Pointing(Placement(rule=Rule.RANKED, branch=7, interaction=7, parent_turn_id="h2"))
    asked = Question(question="booked for how many nights?", for_turn="q")
    found = (await Recall(told.index, told.embedder, now).recall(told.space, asked)).hits
    assert found[0].turn_ids == ("a",)
    assert "branch" in found[0].why
    assert now.asked == []


async def test_a_question_as_of_an_earlier_position_is_not_placed_in_the_forest_of_now() -> None:
    told = await Told().say(*twins())
    now = Pointing(Placement(rule=Rule.RANKED, branch=7, interaction=7, parent_turn_id="h2"))
    recall = Recall(told.index, told.embedder, now)
    last = len(told.turns) - 1
    for as_of, times in ((last - 1, 0), (last, 1), (last + 5, 2)):
        found = await recall.recall(
            told.space, Question(question="booked for how many nights?", as_of=as_of, asker="mia")
        )
        assert any("branch" in hit.why for hit in found.hits) is (times > 0)
        assert len(now.asked) == times


async def test_the_localizer_is_told_the_time_of_the_last_turn_where_the_question_has_none() -> None:
    told = await Told().say(*filler(days=3))
    now = Pointing(Placement(rule=Rule.NEW_ROOT, branch=0, interaction=0))
    await Recall(told.index, told.embedder, now).recall(told.space, Question(question="soup?", asker="mia"))
    assert now.asked == [("soup?", "mia", START + timedelta(days=3))]


async def test_a_question_that_nobody_of_the_space_asks_is_not_placed() -> None:
    told = await Told().say(*filler(days=3))
    now = Pointing(Placement(rule=Rule.NEW_ROOT, branch=0, interaction=0))
    await Recall(told.index, told.embedder, now).recall(told.space, Question(question="soup?"))
    assert now.asked == []
