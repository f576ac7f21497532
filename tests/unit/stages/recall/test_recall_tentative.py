"""Guesses rank below all that somebody said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from schemas.space import Space
from stages.recall import Recall
from stages.recall.candidate import Candidate, Instead, ranked
from stages.recall.tentative import plain_first, unguessed
from tests.fakes.told import MIA, Said, Told

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def row(name: str, *, guess: bool) -> RecordRow:
    return RecordRow(
        space=Space("acme/u-1"),
        id=name,
        kind=RecordKind.FACT,
        text=name,
        owner="mia",
        speaker=None,
        at=AT,
        provenance=(name,),
        since=0,
        rests_on="a quote" if guess else None,
    )


@given(st.lists(st.tuples(st.integers(-500, 500), st.booleans()), max_size=12))
def test_plain_ones_come_first_and_each_kind_stays_in_order(drawn: list[tuple[int, bool]]) -> None:
    scored = [(f"t{n:02}", score, guess) for n, (score, guess) in enumerate(drawn)]
    rows = {name: row(name, guess=guess) for name, _, guess in scored}
    before = ranked(Candidate(name, score, {}, name) for name, score, _ in scored)
    after = plain_first(before, rows)
    guesses = [rows[one.shown].rests_on is not None for one in after]
    assert guesses == sorted(guesses)
    for kind in (True, False):
        assert [one.turn_id for one in after if (rows[one.shown].rests_on is not None) is kind] == [
            one.turn_id for one in before if (rows[one.shown].rests_on is not None) is kind
        ]
    assert after == ranked(after)
    assert all(
        one.score == other.score
        for one in after
        for other in before
        if not rows[one.shown].rests_on and one.turn_id == other.turn_id
    )


async def test_the_turn_of_a_guess_that_fits_best_is_shown_and_ranked_by_its_own_words() -> None:
    told = await Told().say(
        Said("t0", MIA, "The lights near the office stay on late."),
        Said("t1", MIA, "Football with Li would be fine."),
        Said("t2", MIA, "We talked about gardens."),
    )
    guess = told.row(told.turns[0], RecordKind.FACT, "Mia may play football by night there", 7, rests_on="stay on late")
    await told.event([guess])
    asked = Question(question="Mia may play football by night there", k=3)
    hits = (await Recall(told.index, told.embedder).recall(told.space, asked)).hits
    assert hits[0].turn_ids == ("t1",)
    (own,) = [hit for hit in hits if hit.turn_ids == ("t0",)]
    assert own.record_id == told.row_id("t0", "turn")
    assert own.why["tentative"] < 0


async def test_what_was_said_is_found_as_well_as_without_what_is_guessed_of_it() -> None:
    said = [
        Said("t0", MIA, "The lights near the office stay on late for football."),
        *(Said(f"t{n}", MIA, f"We talked about garden {n}.") for n in range(1, 6)),
    ]
    asked = Question(question="Does Mia play football late near the office?", k=3)
    alone, told = await Told().say(*said), await Told().say(*said)
    before = (await Recall(alone.index, alone.embedder).recall(alone.space, asked)).hits[0]
    text = "Mia may play football late near the office"
    await told.event([told.row(told.turns[0], RecordKind.FACT, text, 7, rests_on="stay on late")])
    after = (await Recall(told.index, told.embedder).recall(told.space, asked)).hits[0]
    assert (after.turn_ids, after.record_id, after.text) == (("t0",), before.record_id, before.text)


def test_a_guess_of_which_nothing_else_was_found_stays_one() -> None:
    rows = {"guess": row("guess", guess=True)}
    alone = Candidate("t", 500, {}, "guess", item="guess")
    assert unguessed([alone], rows) == [alone]
    assert unguessed([replace(alone, instead=Instead("own", 9, anchored=False))], rows)[0].shown == "guess"
    rows["own"] = row("own", guess=False)
    (plain,) = unguessed([replace(alone, instead=Instead("own", 9, anchored=True))], rows)
    assert (plain.shown, plain.score, plain.anchored, plain.item) == ("own", 491, True, None)
