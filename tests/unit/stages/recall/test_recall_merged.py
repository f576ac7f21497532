"""Records that stand for several turns: what they give, how they are counted and shown, and after an undo."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from schemas.extracted import Key
from schemas.memory import ChangedRow, CloseCause, ClosedRow, LeftRow, RecordKind, RecordRow
from schemas.recall import Question
from stages.ports import Match
from stages.recall.changes import changes
from stages.recall.pool import Hits, pooled
from stages.recall.retrieve import seen
from tests.fakes.asked import filler, hits, turns
from tests.fakes.told import BEN, MIA, Said, Told

QUESTION = "Which beekeeping hives?"
ITEM = "Mia keeps beekeeping hives"
TWICE = [
    Said("a", MIA, "hm, yes", days=1, items=(ITEM,)),
    *filler(),
    Said("b", MIA, "well, mostly", days=2, items=(f"{ITEM} now",)),
    *filler(10),
]


def made(told: Told, text: str, *said: str, ordinal: int = 70, **fields: Any) -> RecordRow:
    """Return a record of consolidation that rests on turns."""
    by_name = {one.turn_id: one for one in told.turns}
    first = told.turns.index(by_name[said[0]])
    values: dict[str, Any] = {"run": "night-1", "said_at": first, "provenance": said, **fields}
    return told.row(by_name[said[0]], RecordKind.FACT, text, ordinal, **values)


async def merged(told: Told) -> RecordRow:
    """Put one record in the place of the facts of turns a and b, as the next event."""
    old = [told.row_id("a", "fact"), told.row_id("b", "fact")]
    await told.say(Said("night", BEN, "zzz", days=3))
    row = made(told, ITEM, "a", "b", stands_for=tuple(old), occurrences=2)
    at = len(told.turns) - 1
    closings = [
        ClosedRow(space=told.space, id=name, until=at, cause=CloseCause.MERGE, successor=row.id) for name in old
    ]
    await told.event([row, *closings, LeftRow(space=told.space, id=row.id, position=at)])
    return row


async def undone(told: Told, row: RecordRow) -> list[RecordRow]:
    """Bring back what a record stood for."""
    await told.say(Said("morning", BEN, "zzzz", days=4))
    rows = [
        made(told, ITEM, "a", ordinal=80, run="undo-night-1"),
        made(told, f"{ITEM} now", "b", ordinal=81, run="undo-night-1"),
    ]
    at = len(told.turns) - 1
    await told.event(
        [*rows, ClosedRow(space=told.space, id=row.id, until=at, cause=CloseCause.UNDO, successor=rows[0].id)]
    )
    return rows


async def test_a_merged_record_is_evidence_of_every_turn_it_rests_on() -> None:
    told = await Told().say(*TWICE)
    row = await merged(told)
    found = await hits(told, QUESTION, k=4)
    assert (found[0].record_id, found[0].turn_ids) == (row.id, ("a", "b"))
    named = [name for hit in found for name in hit.turn_ids]
    assert len(set(named)) == 4  # k counts distinct turns, however many a record brings
    assert [hit.record_id for hit in found].count(row.id) == 1


async def test_it_says_no_less_for_being_merged() -> None:
    told = await Told().say(*TWICE)
    assert set((await turns(told, QUESTION, k=2))[:2]) == {"a", "b"}
    await merged(told)
    assert await turns(told, QUESTION, k=2) == ["a", "b"]


def fact(turn: str, since: int, score: int, *others: str, said_at: int | None = None) -> Match:
    return Match(
        f"fact-{turn}-{since}", RecordKind.FACT, turn, since, score, session="s", said_at=said_at, others=others
    )


def turn(number: int, score: int) -> Match:
    return Match(f"turn-{number}", RecordKind.TURN, f"t{number}", number, score, session="s")


def test_each_turn_gets_the_best_projection_never_the_sum() -> None:
    alone = [fact("t2", 2, 90), fact("t9", 9, 90), turn(20, 10), turn(30, 10)]
    together = [fact("t2", 50, 90, "t9", said_at=2), fact("t9", 9, 80), turn(20, 10), turn(30, 10)]
    scores = [{one.turn_id: one.score for one in pooled([Hits("dense", found)]).best(9)} for found in (alone, together)]
    assert scores[0] == scores[1]
    assert scores[1]["t2"] == scores[1]["t9"]


def test_a_window_counts_for_its_anchor_only_and_no_turn_is_made_up() -> None:
    window = Match("w", RecordKind.WINDOW, "t2", 3, 90, session="s")
    assert [one.turn_id for one in pooled([Hits("dense", [window, turn(9, 4)])]).best(9)] == ["t2", "t9"]


def test_neighbours_go_by_when_an_item_was_said() -> None:
    near, far = turn(4, 100), [turn(n, 0) for n in (20, 30, 40)]

    def lent(said_at: int | None) -> bool:
        late = fact("t3", 60, 10, said_at=said_at)
        found = pooled([Hits("dense", [near, late, *far])]).best(9)
        return next(one for one in found if one.turn_id == "t3").why.get("neighbour", 0) > 0

    assert lent(3)
    assert not lent(None)


def test_a_turn_known_only_through_another_ones_record_has_no_place() -> None:
    found = pooled([Hits("dense", [fact("t2", 2, 90, "t7"), turn(6, 80), turn(30, 0)])], lambda position: position > 0)
    assert found.positions() == {"t2": 2, "t6": 6, "t30": 30}
    assert next(one for one in found.best(9) if one.turn_id == "t7").shown == "fact-t2-2"


async def test_what_was_merged_was_not_corrected() -> None:
    told = await Told().say(*TWICE)
    await merged(told)
    texts = [hit.text for hit in await hits(told, QUESTION, k=20)]
    assert not any("corrected" in text or "changed" in text for text in texts)


async def test_a_merged_record_that_changed_says_so_at_each_turn() -> None:
    told = await Told().say(*TWICE)
    row = await merged(told)
    await told.say(Said("c", MIA, "gone", days=5, items=("Mia sold all",)))
    new = told.row_id("c", "fact")
    await told.event([ChangedRow(space=told.space, id=row.id, position=len(told.turns) - 1, successor=new)])
    found = {hit.turn_ids: hit.text for hit in await hits(told, f"{QUESTION} hm well mostly yes", k=20)}
    assert all("[changed 2026-03-07, c: Mia sold all]" in text for names, text in found.items() if "a" in names)
    assert await turns(told, QUESTION, k=3) == ["c", "a", "b"]


async def test_an_undo_finds_and_shows_what_there_was_before() -> None:
    told = await Told().say(
        Said("x", MIA, "no, none", items=("Mia keeps no beekeeping hives yet",)), *filler(30), *TWICE
    )
    at = len(told.turns) - 1
    await told.event(
        [ChangedRow(space=told.space, id=told.row_id("x", "fact"), position=at, successor=told.row_id("b", "fact"))]
    )
    before = [(hit.turn_ids, hit.text) for hit in await hits(told, QUESTION, k=6)]
    assert any("[changed 2026-03-04, b:" in text for _, text in before)
    row = await merged(told)
    assert all(f"[changed 2026-03-03, a: {ITEM}]" in text for names, text in await shown(told) if names == ("x",))
    await undone(told, row)
    assert [(hit.turn_ids, hit.text) for hit in await hits(told, QUESTION, k=6)] == before


async def test_an_undo_is_followed_behind_as_many_changes_as_before() -> None:
    """What a night and its undo write is not counted among the changes that are followed."""
    first = Said("x0", MIA, "no", items=("Mia saw harbour cranes",))
    between = [Said(f"x{n}", MIA, "no", items=(f"Mia has {n} spades",)) for n in range(1, 4)]
    told = await Told().say(first, *filler(30), *between, *TWICE)
    facts = [told.row_id(f"x{n}", "fact") for n in range(4)]
    for old, new in zip(facts, [*facts[1:], told.row_id("b", "fact")], strict=True):
        await told.event([ChangedRow(space=told.space, id=old, position=len(told.turns) - 1, successor=new)])
    before = [(hit.turn_ids, hit.text) for hit in await hits(told, "Which harbour cranes?", k=2)]
    assert [names for names, _ in before] == [("b",), ("x0",)]
    await undone(told, await merged(told))
    assert [(hit.turn_ids, hit.text) for hit in await hits(told, "Which harbour cranes?", k=2)] == before


async def test_notes_of_a_turn_come_in_the_order_of_what_they_tell_of() -> None:
    """Not in that of ids, since what an undo brings back has another one."""
    old = [f"Mia keeps beekeeping hives in {place}" for place in ("Oslo", "Rome", "Lima", "Bonn", "Kyiv", "Cork")]
    told = await Told().say(Said("x", MIA, "hm", items=tuple(old)), *filler())
    await told.say(*(Said(f"y{n}", MIA, "gone", days=n, items=(f"Mia sold hive {n}",)) for n in range(1, 7)))
    at = len(told.turns) - 1
    for ordinal, n in enumerate((4, 2, 6, 1, 5, 3)):
        one, new = told.row_id("x", "fact", ordinal), told.row_id(f"y{n}", "fact")
        await told.event([ChangedRow(space=told.space, id=one, position=at, successor=new)])
    text = next(text for names, text in await shown(told, k=20) if names == ("x",))
    assert re.findall(r"sold hive (\d)", text) == ["1", "2", "3", "4", "5", "6"]


async def test_items_of_a_turn_that_fit_alike_are_told_apart_by_their_words_not_by_their_ids() -> None:
    told = await Told().say(Said("a", MIA, "hm"), Said("b", MIA, "well"))
    rows = [made(told, text, "a", ordinal=n) for n, text in enumerate(("Mia keeps hives", "Mia keeps bees"))]
    for order in (rows, rows[::-1]):
        tied = [Match(row.id, RecordKind.FACT, "a", 0, 90, session="s") for row in order]
        (best,) = (one for one in pooled([Hits("dense", [*tied, turn(9, 4)])]).best(9) if one.turn_id == "a")
        chosen = best.settled({row.id: row for row in rows})
        assert (chosen.item, chosen.shown) == (rows[1].id, rows[1].id)
    better = [Match(row.id, RecordKind.FACT, "a", 0, 91 - n, session="s") for n, row in enumerate(rows)]
    (best,) = (one for one in pooled([Hits("dense", [*better, turn(9, 4)])]).best(9) if one.turn_id == "a")
    assert best.settled({row.id: row for row in rows}).item == rows[0].id


async def test_a_record_that_was_taken_back_holds_no_more() -> None:
    """Else the graph would lead over it to all the turns that it rested on, though it is gone."""
    told = await Told().say(*TWICE)
    row = await merged(told)
    old = told.row_id("b", "fact")
    await undone(told, row)
    scope = await seen(told.index, told.space, Question(question=QUESTION))
    found = await told.index.fetch(told.space, scope.as_of, [row.id, old])
    marks = await changes(told.index, scope, found)
    assert [marks.took_in(one.record) for one in found] == [False, True]


async def shown(told: Told, k: int = 6) -> list[tuple[tuple[str, ...], str]]:
    return [(hit.turn_ids, hit.text) for hit in await hits(told, QUESTION, k=k)]


async def test_what_rests_on_the_asking_turn_is_left_out() -> None:
    told = await Told().say(*TWICE)
    row = await merged(told)
    found = await hits(told, QUESTION, for_turn="b", k=6)
    assert row.id not in {hit.record_id for hit in found}
    assert "b" not in {name for hit in found for name in hit.turn_ids}


async def test_working_memory_goes_by_when_things_were_said() -> None:
    """An older item that came back by an undo is not the newer one."""
    key = Key(owner=MIA.id, subject="hives", attribute="count")
    told = await Told().say(Said("a", MIA, "hm"), *filler(), Said("b", MIA, "well"), *filler(10))
    old = replace_key(made(told, "Mia keeps seven beekeeping hives", "a", run="undo-night-1"), key)
    new = replace_key(told.row(told.turns[7], RecordKind.FACT, "Mia keeps nine", since=7), key)
    await told.event([old, new, LeftRow(space=told.space, id=old.id, position=len(told.turns) - 1)])
    found = await hits(told, "Who keeps seven beekeeping hives?", k=4)
    assert [hit.turn_ids for hit in found][:2] == [("b",), ("a",)]
    assert found[0].why["working"] > 0


def replace_key(row: RecordRow, key: Key) -> RecordRow:
    return row.model_copy(update={"key": key})


async def test_topics_and_personas_of_a_night_are_no_hits() -> None:
    told = await Told().say(*TWICE)
    first = replace(told.turns[0])
    about = [
        told.row(first, kind, f"beekeeping hives {kind}", provenance=("a", "b"), run="night-1", said_at=0)
        for kind in (RecordKind.TOPIC, RecordKind.PERSONA)
    ]
    before = await hits(told, QUESTION, k=9)
    await told.event(about)
    assert await hits(told, QUESTION, k=9) == before
