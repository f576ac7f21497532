"""A run taken back: what it put together comes again as it was."""

from __future__ import annotations

import pytest

from infra.models.hash_embedder import HashEmbedder
from schemas.consolidation import Act
from schemas.memory import ChangedRow, CloseCause, ClosedRow, RecordKind, RecordRow, Row
from stages.consolidate import Consolidate, NoNight, TakenUp, UnknownRun, live, undone
from stages.consolidate.contents import content, said_at
from tests.fakes.nightly import SPACE, applied, left, remembered

ROWS = [
    remembered("Ida has a boat.", 1),
    remembered("Ida has a boat.", 2, views=("other", "places")),
    remembered("Ida has a boat called Anna.", 3),
    remembered("Ida sold the old piano.", 4),
]


async def night(rows: list[Row], run: str = "night-1") -> list[Row]:
    plan = await Consolidate(HashEmbedder()).merges(SPACE, live(rows), 64)
    return applied(rows, plan, run)


def standing(rows: list[Row]) -> list[RecordRow]:
    return [one.row for one in live(rows)]


async def test_undo_brings_back_equal_contents() -> None:
    before = left(ROWS)
    after = await night(before)
    assert len(standing(after)) == 2
    decisions = undone(after, "night-1")
    assert [(one.act, len(one.retired), len(one.records)) for one in decisions] == [(Act.UNDO, 1, 3)]
    again = applied(after, decisions, "undo-night-1")
    as_it_was = [content(row, run=None, said_at=said_at(row)) for row in standing(again)]
    assert sorted(as_it_was, key=str) == sorted((content(row, said_at=said_at(row)) for row in ROWS), key=str)


async def test_what_was_brought_back_is_not_put_together_again() -> None:
    again = await night(left(ROWS))
    again = applied(again, undone(again, "night-1"), "undo-night-1")
    assert (await Consolidate(HashEmbedder()).merges(SPACE, live(again), 64)).decisions == ()


async def test_a_run_is_taken_back_once() -> None:
    after = await night(left(ROWS))
    again = applied(after, undone(after, "night-1"), "undo-night-1")
    assert undone(again, "night-1") == ()


async def test_topics_of_a_run_go_and_an_older_version_comes_back() -> None:
    events = [
        remembered(f"Mia went {how} to the pottery class.", at, kind=RecordKind.EVENT)
        for at, how in enumerate(("again", "late", "alone"))
    ]
    consolidate = Consolidate(HashEmbedder())
    first = left(events[:2])
    first = applied(first, await consolidate.themes(SPACE, live(first)))
    grown = [*first, *left(events[2:])]
    second = applied(grown, await consolidate.themes(SPACE, live(grown)), "night-2")
    again = applied(second, undone(second, "night-2"), "undo-night-2")
    topics = [[row.text for row in standing(rows) if row.kind is RecordKind.TOPIC] for rows in (first, second, again)]
    assert topics[0] == topics[2] != topics[1]
    gone = applied(first, undone(first, "night-1"), "undo-night-1")
    assert [row.text for row in standing(gone)] == [row.text for row in events[:2]]


@pytest.mark.parametrize("run", ["undo-night-1", "revision-7"])
async def test_what_came_back_is_not_taken_away_again(run: str) -> None:
    after = await night(left(ROWS))
    with pytest.raises(NoNight, match=run):
        undone(applied(after, undone(after, "night-1"), run), run)


async def test_an_unknown_run_is_refused() -> None:
    with pytest.raises(UnknownRun, match="'night-9'"):
        undone(left(ROWS), "night-9")


async def test_a_run_whose_records_a_later_one_took_up_names_that_one() -> None:
    first = await night(left(ROWS[:2]))
    second = await night([*first, *left([remembered("Ida has a boat.", 7)])], "night-2")
    with pytest.raises(TakenUp, match="'night-2'"):
        undone(second, "night-1")
    back = applied(second, undone(second, "night-2"), "undo-night-2")
    (decision,) = undone(back, "night-1")
    again = standing(applied(back, [decision], "undo-night-1"))
    assert [(row.text, row.occurrences) for row in again] == [("Ida has a boat.", 1)] * 3


async def test_what_was_corrected_or_changed_since_stays_as_it_is() -> None:
    after = await night(left(ROWS))
    (made,) = [row for row in standing(after) if row.run is not None]
    gone = ClosedRow(space=SPACE, id=made.id, until=900, cause=CloseCause.CORRECTION, successor=ROWS[3].id)
    assert undone([*after, gone], "night-1") == ()
    superseded = ChangedRow(space=SPACE, id=made.id, position=900, successor=ROWS[3].id)
    assert undone([*after, superseded], "night-1") == ()


async def test_a_record_that_memory_lost_is_an_error() -> None:
    after = [row for row in await night(left(ROWS)) if not (isinstance(row, RecordRow) and row.id == ROWS[0].id)]
    with pytest.raises(ValueError, match=ROWS[0].id):
        undone(after, "night-1")
