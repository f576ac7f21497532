"""What changed, was corrected or left working memory: how it ranks and what is said with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from schemas.extracted import Key
from schemas.interval import Grain, Interval
from schemas.memory import ChangedRow, CloseCause, ClosedRow, LeftRow, RecordKind
from stages.ports import Filter, Found
from tests.fakes.asked import filler, hits, turns
from tests.fakes.index import MemoryIndex
from tests.fakes.told import BEN, MIA, START, Said, Told


def changed(told: Told, old: str, new: str) -> ChangedRow:
    at = len(told.turns) - 1
    return ChangedRow(
        space=told.space, id=told.row_id(old, "fact"), position=at, successor=told.row_id(new, "fact"), reason="later"
    )


MOVED = [
    Said("old", MIA, "hm, well, Porto then", items=("Mia lives in Porto by the river",)),
    *filler(),
    Said("new", MIA, "boxes are packed", items=("Mia has moved to Lisbon",)),
]


async def test_a_changed_record_stays_under_its_successor_which_is_brought_with_it() -> None:
    told = await Told().say(*MOVED)
    before = await turns(told, "Who lives in Porto by the river?", k=3)
    assert before[0] == "old"
    await told.event([changed(told, "old", "new")])
    found = await hits(told, "Who lives in Porto by the river?", k=3)
    assert [hit.turn_ids for hit in found][:2] == [("new",), ("old",)]
    assert found[1].text.endswith("[changed 2026-03-02, new: Mia has moved to Lisbon]")
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


async def test_a_turn_whose_item_was_superseded_says_so_though_it_is_found_by_its_own_text() -> None:
    told = await Told().say(replace(MOVED[0], text="Porto by the river is where Mia lives"), *MOVED[1:])
    await told.event([changed(told, "old", "new")])
    found = {hit.turn_ids: hit for hit in await hits(told, "Porto by the river is where who lives?", k=9)}
    assert found["old",].kind is RecordKind.TURN
    assert "new: Mia has moved to Lisbon" in found["old",].text
    assert await turns(told, "Porto by the river is where who lives?", k=1) == ["old"]


async def test_a_successor_that_was_forgotten_is_not_brought_back() -> None:
    told = await Told().say(*MOVED)
    gone = ClosedRow(space=told.space, id=told.row_id("new", "fact"), until=7, cause=CloseCause.FORGET)
    await told.event([changed(told, "old", "new"), gone])
    found = await hits(told, "Who lives in Porto by the river?", k=3)
    assert found[0].turn_ids == ("old",)
    assert not any("Lisbon" in hit.text for hit in found)


async def test_changes_are_followed_to_the_end_and_as_of_before_them_not_at_all() -> None:
    told = await Told().say(*MOVED)
    await told.event([changed(told, "old", "new")])
    await told.say(Said("newest", MIA, "keys at last", items=("Mia bought a flat in Faro",)))
    await told.event([changed(told, "new", "newest")])
    found = await hits(told, "Who lives in Porto by the river?", k=3)
    assert found[0].turn_ids == ("newest",)
    assert "Faro" in next(hit.text for hit in found if hit.turn_ids == ("old",))
    assert (await turns(told, "Who lives in Porto by the river?", k=3, as_of=6))[0] == "old"


async def test_a_corrected_record_is_out_and_its_turn_names_the_correction() -> None:
    told = await Told().say(*MOVED)
    old, new = told.row_id("old", "fact"), told.row_id("new", "fact")
    row = ClosedRow(space=told.space, id=old, until=7, cause=CloseCause.CORRECTION, successor=new)
    await told.event([row])

    class Telling(MemoryIndex):
        async def matching(self, where: Filter, limit: int) -> list[Found]:
            found = await super().matching(where, limit)
            return [replace(one, successor=new) if one.record.id == old and one.until <= 7 else one for one in found]

    told.index = Telling(64, told.index.records, told.index.watermarks)
    found = await hits(told, "Who lives in Porto by the river?", k=9)
    assert old not in {hit.record_id for hit in found}
    text = next(hit.text for hit in found if hit.turn_ids == ("old",))
    assert text.endswith("[corrected 2026-03-02, new: Mia has moved to Lisbon]")


async def test_a_record_that_rests_on_the_same_turn_supersedes_nothing_of_it() -> None:
    told = await Told().say(*MOVED)
    merged = told.row(told.turns[0], RecordKind.FACT, "Mia lives in Porto", 7, provenance=("old", "f0"))
    old = told.row_id("old", "fact")
    closed = ClosedRow(space=told.space, id=old, until=7, cause=CloseCause.MERGE, successor=merged.id)
    await told.event([merged, closed])
    assert not any("corrected" in hit.text for hit in await hits(told, "Who lives in Porto by the river?", k=9))


async def test_a_merged_item_is_evidence_of_all_its_turns() -> None:
    told = await Told().say(Said("t1", MIA, "dogs"), Said("t2", MIA, "cats"), *filler())
    merged = told.row(told.turns[0], RecordKind.FACT, "Mia keeps bees and hens", 7, provenance=("t1", "t2"))
    await told.event([merged])
    found = await hits(told, "Who keeps bees and hens?", k=2)
    assert [hit.turn_ids for hit in found] == [("t1", "t2")]
    more = await hits(told, "Who keeps bees and hens?", k=8)
    assert ("t2",) not in {hit.turn_ids for hit in more}
    assert len({name for hit in more for name in hit.turn_ids}) == 8


DIET = Key(owner="u-1", subject=None, attribute="diet")


async def keyed(*, left: bool, key: Key = DIET) -> Told:
    """Two turns with an item of a key each; the older answers the question by its words."""
    old = Said("old", MIA, "hm, well")
    new = Said("new", MIA, "as I said")
    told = await Told().say(old)
    await told.event([told.row(old, RecordKind.ATTRIBUTE, "Mia eats only vegan food", key=DIET)])
    await told.say(*filler(), new)
    await told.event([told.row(new, RecordKind.ATTRIBUTE, "Mia eats fish", key=key)])
    await told.say(Said("last", BEN, "the bus is here"))
    if left:
        await told.event([LeftRow(space=told.space, id=told.row_id("old", "attribute"), position=8)])
    return told


@pytest.mark.parametrize(
    ("left", "key", "first"),
    [(True, DIET, "new"), (False, DIET, "old"), (True, DIET.model_copy(update={"attribute": "pets"}), "old")],
)
async def test_a_working_item_stands_above_an_older_one_of_its_key_that_has_left(
    *, left: bool, key: Key, first: str
) -> None:
    told = await keyed(left=left, key=key)
    found = await hits(told, "Is it only vegan food that somebody eats?")
    assert found[0].turn_ids == (first,)
    assert any("working" in hit.why for hit in found) is (first == "new")
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


async def test_before_it_left_an_older_item_is_not_outranked() -> None:
    told = await keyed(left=True)
    question = "Is it only vegan food that somebody eats?"
    assert (await turns(told, question, as_of=7))[0] == "old"
    assert (await turns(told, question, as_of=8))[0] == "new"


async def test_a_changed_items_time_ends_where_its_successor_begins() -> None:
    year = Interval(start=START, end=START + timedelta(days=365), grain=Grain.YEAR)
    old, new = Said("old", MIA, "hm, well"), Said("new", MIA, "boxes are packed", days=60, session="s2")
    told = await Told().say(old)
    await told.event([told.row(old, RecordKind.FACT, "Mia lives in Porto by the river", interval=year)])
    await told.say(*filler(), new)
    await told.event([told.row(new, RecordKind.FACT, "Mia has moved to Lisbon")])

    async def timely(question: str) -> bool:
        found = {hit.turn_ids: hit.why for hit in await hits(told, question)}
        return "time" in found["old",]

    assert await timely("Did Mia live in Porto by the river in August 2026?")
    await told.event([changed(told, "old", "new")])
    assert not await timely("Did Mia live in Porto by the river in August 2026?")
    assert await timely("Did Mia live in Porto by the river in April 2026?")
