"""What holds of any night over any memory."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.models.hash_embedder import HashEmbedder
from schemas.extracted import Key
from schemas.memory import RecordKind, RecordRow, Row
from schemas.normalized import Attitude
from stages.consolidate import Consolidate, Plan, live, undone
from stages.consolidate.contents import content, said_at
from stages.consolidate.linking import mutual
from tests.fakes.nightly import SPACE, applied, left, remembered

SLOW = settings(deadline=None, max_examples=60)
"""A night over a few records takes some milliseconds, on a busy machine more."""

SUBJECTS = ("Ida", "Ben")
WHAT = (
    "has a boat",
    "has a boat called Anna",
    "has a red boat",
    "does not swim",
    "went to the pottery class",
    "has 2 cats",
)
MORE = ("", " in Kiel", " with her brother", ", too", " every Sunday", ", not any more")


@st.composite
def record(draw: st.DrawFn, since: int) -> RecordRow:
    text = f"{draw(st.sampled_from(SUBJECTS))} {draw(st.sampled_from(WHAT))}{draw(st.sampled_from(MORE))}."
    owner, branch = draw(st.sampled_from(("mia", "ben"))), draw(st.integers(0, 1))
    kind = draw(st.sampled_from((RecordKind.FACT, RecordKind.EVENT, RecordKind.ATTRIBUTE)))
    subject = None if kind is RecordKind.ATTRIBUTE else f"branch:{branch}"
    return remembered(
        draw(st.sampled_from((text, text.upper()))),
        since,
        kind=kind,
        owner=owner,
        key=Key(owner=owner, subject=subject, attribute=f"other:word{since}"),
        branch=branch,
        attitude=draw(st.sampled_from(tuple(Attitude))),
        suspect=draw(st.sampled_from((False, False, False, True))),
    )


@st.composite
def memories(draw: st.DrawFn) -> list[RecordRow]:
    return [draw(record(since)) for since in range(draw(st.integers(0, 14)))]


def merges(rows: list[Row], most: int = 1000) -> Plan:
    return asyncio.run(Consolidate(HashEmbedder()).merges(SPACE, live(rows), most))


def themes(rows: list[Row]) -> Plan:
    return asyncio.run(Consolidate(HashEmbedder()).themes(SPACE, live(rows)))


def standing(rows: list[Row]) -> list[RecordRow]:
    return [one.row for one in live(rows)]


@SLOW
@given(memories(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(rows: list[RecordRow], chance: random.Random) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    consolidate = Consolidate(HashEmbedder())
    given_ = live(left(rows))
    mixed = [one for row in shuffled for one in given_ if one.row.id == row.id]
    first, second = (asyncio.run(consolidate.merges(SPACE, seen, 1000)) for seen in (given_, mixed))
    assert first == second
    assert asyncio.run(consolidate.themes(SPACE, given_)) == asyncio.run(consolidate.themes(SPACE, mixed))


@SLOW
@given(memories())
def test_a_second_night_decides_nothing(rows: list[RecordRow]) -> None:
    merged = applied(left(rows), merges(left(rows)))
    after = applied(merged, themes(merged))
    assert merges(after).decisions == ()
    assert themes(after).decisions == ()


@SLOW
@given(memories(), st.integers(2, 6))
def test_nights_with_a_bound_come_to_the_same_end(rows: list[RecordRow], most: int) -> None:
    after = left(rows)
    for number in range(len(rows) + 1):
        plan = merges(after, most)
        assert sum(len(one.retired) for one in plan.decisions) <= most
        after = applied(after, plan, f"night-{number}")
    assert merges(after).decisions == ()


@SLOW
@given(memories())
def test_live_records_never_grow_and_no_provenance_is_lost(rows: list[RecordRow]) -> None:
    before = left(rows)
    plan = merges(before)
    after = standing(applied(before, plan))
    assert len(after) <= len(rows) - len(plan.decisions)
    assert {turn for row in after for turn in row.provenance} == {turn for row in rows for turn in row.provenance}
    assert sum(row.occurrences for row in after) == len(rows)
    for decision in plan.decisions:
        (made,) = decision.records
        sources = [row for row in rows if row.id in made.stands_for]
        assert set(made.provenance) == {turn for row in sources for turn in row.provenance}
        assert made.said_at == min(map(said_at, sources))
        assert not any(row.suspect for row in sources)


@SLOW
@given(memories())
def test_undo_gives_back_equal_contents_and_nothing_is_put_together_again(rows: list[RecordRow]) -> None:
    before = left(rows)
    plan = merges(before)
    after = applied(before, plan)
    if not plan.decisions:
        return
    again = applied(after, undone(after, "night-1"), "undo-night-1")
    found = [content(row, run=None, said_at=said_at(row)) for row in standing(again)]
    assert sorted(found, key=str) == sorted((content(row, said_at=said_at(row)) for row in rows), key=str)
    assert merges(again).decisions == ()


@SLOW
@given(st.lists(st.tuples(st.binary(min_size=4, max_size=4), st.frozensets(st.sampled_from("abcd"))), max_size=12))
def test_all_of_a_theme_have_a_word_in_common_and_each_key_is_in_one(keys: list[tuple[bytes, frozenset[str]]]) -> None:
    groups = mutual([vector for vector, _ in keys], [words for _, words in keys], 500)
    assert sorted(at for group in groups for at in group) == list(range(len(keys)))
    assert all(len(group) == 1 or frozenset.intersection(*(keys[at][1] for at in group)) for group in groups)


@pytest.mark.parametrize("most", [0, 1])
def test_a_bound_below_two_retires_nothing(most: int) -> None:
    assert merges(left([remembered("Ida swims.", 1), remembered("Ida swims.", 2)]), most).decisions == ()
