"""Guesses rank below all that somebody said."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from schemas.space import Space
from stages.recall import Recall
from stages.recall.pool import Candidate, ranked
from stages.recall.tentative import plain_first
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


async def test_a_guess_that_fits_best_is_found_last() -> None:
    told = await Told().say(
        Said("t0", MIA, "The lights near the office stay on late."),
        Said("t1", MIA, "Football with Li would be fine."),
        Said("t2", MIA, "We talked about gardens."),
    )
    guess = told.row(told.turns[0], RecordKind.FACT, "Mia may play football by night there", 7, rests_on="stay on late")
    await told.event([guess])
    asked = Question(question="Mia may play football by night there", k=3)
    hits = (await Recall(told.index, told.embedder).recall(told.space, asked)).hits
    assert [hit.turn_ids[0] for hit in hits][-1] == "t0"
    assert hits[-1].record_id == guess.id
    assert hits[-1].why["tentative"] < 0
