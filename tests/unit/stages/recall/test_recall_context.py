"""The bundle before an answer: the path of the branch, evidence from elsewhere, a budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.localized import Placement, Rule, RunnerUp
from schemas.memory import ChangedRow, RecordKind
from schemas.recall import Bundle, ContextInput, Line, Part
from schemas.space import Space
from stages.recall import Recall
from stages.text.cost import estimate
from tests.fakes.told import BEN, BOT, MIA, START, Said, Told

WIDE = 4000


class Placing:
    """A localizer that always answers the same."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement

    async def locate(self, space: Space, text: str, speaker: str | None, at: object) -> Placement:
        return self.placement


def branch(name: str, topic: str, exchanges: int, days: float) -> list[Said]:
    """A branch of questions and answers: ``name1``, ``name1a``, ``name2``, …; each question follows the last answer."""
    turns: list[Said] = []
    for n in range(1, exchanges + 1):
        above = f"{name}{n - 1}a" if n > 1 else None
        day = days + n
        turns.append(Said(f"{name}{n}", MIA, f"{topic}: question {n}?", day, session=name, parent=above))
        turns.append(Said(f"{name}{n}a", BOT, f"{topic}: answer {n}.", day, session=name, parent=f"{name}{n}"))
    return turns


async def two_branches(exchanges: int = 6) -> Told:
    return await Told().say(*branch("k", "the kitchen floor", exchanges, 0), *branch("d", "the dog", exchanges, 20))


def after(told: Told, turn_id: str, *runners_up: RunnerUp) -> Placement:
    above = told.placed[turn_id]
    return Placement(
        rule=Rule.RANKED,
        parent_turn_id=turn_id,
        score=900,
        runners_up=runners_up,
        branch=above.branch,
        interaction=99,
        depth=above.depth + 1,
    )


async def bundle(told: Told, placement: Placement, text: str = "and the floor?", budget: int = WIDE) -> Bundle:
    recall = Recall(told.index, told.embedder, Placing(placement))
    return await recall.context(told.space, ContextInput(id="c1", text=text, speaker="u-1"), budget)


def of(got: Bundle, part: Part) -> list[Line]:
    return [line for line in got.lines if line.part is part]


async def test_the_path_is_recent_turns_word_for_word_and_older_interactions_as_summaries() -> None:
    told = await two_branches()
    got = await bundle(told, after(told, "k6a"), budget=WIDE)
    local = [line.turn_ids for line in of(got, Part.LOCAL)]
    assert local[:6] == [("k6a",), ("k6",), ("k5a",), ("k5",), ("k4a",), ("k4",)]
    assert local[6:9] == [("k3", "k3a"), ("k2", "k2a"), ("k1", "k1a")]
    assert of(got, Part.LOCAL)[0].text == "Rook: the kitchen floor: answer 6."
    assert (got.id, got.placement.parent_turn_id) == ("c1", "k6a")


async def test_the_path_goes_up_from_the_parent_not_from_the_newest_turn() -> None:
    told = await two_branches()
    local = of(await bundle(told, after(told, "k2")), Part.LOCAL)
    assert {name for line in local for name in line.turn_ids} == {"k1", "k1a", "k2", "k2a"}


async def test_a_new_root_has_no_path_and_all_of_the_budget_for_the_rest() -> None:
    told = await two_branches()
    got = await bundle(told, Placement(rule=Rule.NEW_ROOT, branch=99, interaction=99))
    assert of(got, Part.LOCAL) == []
    assert {line.turn_ids[0][0] for line in got.lines} == {"k", "d"}


async def test_other_branches_come_as_evidence_and_nothing_is_shown_twice() -> None:
    told = await two_branches()
    got = await bundle(told, after(told, "k6a"), text="what did the dog question say?")
    across = of(got, Part.TURN)
    assert across
    assert across[0].turn_ids[0].startswith("d")
    raw = {line.turn_ids for line in of(got, Part.LOCAL) if len(line.turn_ids) == 1}
    assert raw.isdisjoint(line.turn_ids for line in across)


async def test_items_and_structured_records_are_parts_of_their_own() -> None:
    told = await Told().say(
        Said("t1", BOT, "as listed below", items=()),
        Said("t2", BEN, "hm", items=("Ben paints barns in oil",)),
        *branch("k", "the kitchen floor", 3, 1),
    )
    steps = told.row(told.turns[0], RecordKind.STRUCTURED, "barns to paint: 1. red barn 2. old barn")
    await told.event([steps])
    got = await bundle(told, after(told, "k3a"), text="which barns to paint in oil?")
    assert [line.turn_ids for line in of(got, Part.STRUCTURED)] == [("t1",)]
    assert [line.text for line in of(got, Part.FACT)] == ["Ben paints barns in oil"]


async def test_two_close_branches_share_the_path() -> None:
    told = await two_branches()
    close = await bundle(told, after(told, "k6a", RunnerUp(turn_id="d6a", score=500)))
    assert [line.turn_ids[0] for line in of(close, Part.LOCAL)][:4] == ["k6a", "k6", "d6a", "d6"]
    far = await bundle(told, after(told, "k6a", RunnerUp(turn_id="d6a", score=100)))
    assert not any(line.turn_ids[0].startswith("d") for line in of(far, Part.LOCAL))
    same = await bundle(told, after(told, "k6a", RunnerUp(turn_id="k5a", score=800)))
    assert [line.turn_ids for line in of(same, Part.LOCAL)] == [line.turn_ids for line in of(far, Part.LOCAL)]


@pytest.mark.parametrize("budget", [1, 10, 25, 60, 120, 300, WIDE])
async def test_the_budget_holds_and_the_sum_is_right(budget: int) -> None:
    told = await two_branches()
    got = await bundle(told, after(told, "k6a"), text="the dog", budget=budget)
    assert got.tokens == sum(line.tokens for line in got.lines) <= budget


async def test_each_line_costs_its_ids_and_its_time_too() -> None:
    told = await two_branches()
    for line in (await bundle(told, after(told, "k6a"))).lines:
        assert line.at.tzinfo is not None
        assert line.at > START
        assert line.turn_ids
        assert line.tokens > estimate(line.text)


async def test_the_path_keeps_to_its_share_until_the_rest_has_had_its_turn() -> None:
    told = await two_branches()
    got = await bundle(told, after(told, "k6a"), text="the dog question answer", budget=150)
    first_across = next(n for n, line in enumerate(got.lines) if line.part is not Part.LOCAL)
    assert sum(line.tokens for line in got.lines[:first_across]) <= 90
    assert sum(line.tokens for line in of(got, Part.TURN)) > 40


async def test_what_the_rest_does_not_use_flows_to_the_path() -> None:
    told = await Told().say(*branch("k", "the kitchen floor", 3, 0))
    whole = await bundle(told, after(told, "k3a"))
    got = await bundle(told, after(told, "k3a"), budget=whole.tokens)
    assert got == whole
    assert [line.part for line in got.lines] == [Part.LOCAL] * 6


async def test_an_older_turn_of_the_path_can_come_word_for_word_as_evidence() -> None:
    told = await Told().say(
        Said(
            "k0", MIA, "the kitchen floor is oak parquet, laid in 1962 by Ben himself and waxed ever since", session="k"
        )
    )
    await told.say(*(replace(turn, parent=turn.parent or "k0") for turn in branch("k", "the kitchen floor", 6, 1)))
    local = of(await bundle(told, after(told, "k6a"), text="who laid the parquet in 1962?"), Part.LOCAL)
    summary, word_for_word = (line.text for line in local if line.turn_ids == ("k0",))
    assert len(summary) < len(word_for_word)
    assert word_for_word.endswith("waxed ever since")


async def test_a_turn_too_long_for_what_is_left_comes_as_its_summary() -> None:
    told = await two_branches()
    long = Said("k7", MIA, "the kitchen floor is wet " * 40, 60, session="k", parent="k6a")
    await told.say(long)
    local = of(await bundle(told, after(told, "k7"), budget=200), Part.LOCAL)
    assert (local[0].turn_ids, len(local[0].text) < 80) == (("k7",), True)


async def test_pieces_of_an_over_long_turn_are_one_line() -> None:
    told = await two_branches()
    await told.say(replace(branch("k", "", 1, 60)[0], turn_id="k7", parent="k6a", pieces=("first half", "second half")))
    local = of(await bundle(told, after(told, "k7")), Part.LOCAL)
    assert local[0].text == "Mia: first half\nsecond half"


async def test_path_lines_say_that_items_of_their_turns_were_superseded() -> None:
    said = branch("k", "the kitchen floor", 6, 0)
    told = await Told().say(*(replace(turn, items=(f"Mia: {turn.text}",)) for turn in said))
    for old, new in (("k1", "k5"), ("k4", "k6")):
        ids = (told.row_id(name, "fact") for name in (old, new))
        await told.event([ChangedRow(space=told.space, id=next(ids), position=11, successor=next(ids))])
    local = of(await bundle(told, after(told, "k6a")), Part.LOCAL)
    texts = {line.turn_ids: line.text for line in local}
    assert texts["k4",].endswith("\n[changed 2026-03-08, k6: Mia: the kitchen floor: question 6?]")
    assert texts["k1", "k1a"].endswith(" [changed 2026-03-07, k5]")
    said_of = {name for name, text in texts.items() if "[" in text}
    assert said_of == {("k4",), ("k1", "k1a"), ("k1",)}  # the last one is evidence: word for word
    assert all(line.tokens >= estimate(line.text) for line in local)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("東京", 2)])
def test_the_estimate_is_a_quarter_of_the_bytes_rounded_up(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


async def test_no_bundle_without_a_localizer_or_a_budget() -> None:
    told = await two_branches(1)
    with pytest.raises(ValueError, match="localizer"):
        await Recall(told.index, told.embedder).context(told.space, ContextInput(text="x"), 100)
    with pytest.raises(ValueError, match="budget"):
        await bundle(told, after(told, "k1"), budget=0)
