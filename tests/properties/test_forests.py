"""Placements of any dialogue, revisions and all, make a forest that memory can be walked along."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.localized import Rule
from schemas.memory import RecordRow
from schemas.space import Space
from tests.fakes.dialogues import dialogue
from tests.fakes.disturbed import small_window
from tests.fakes.effort import effort
from tests.fakes.folders import quick_folder
from tests.fakes.rigs import real_rig
from tests.fakes.sent import Sent

SPACE = Space("acme/u-1")


async def turns_of(log: list[Sent], window: int) -> dict[int, RecordRow]:
    """Return the turn records that a dialogue leaves, closed ones too, by position."""
    with small_window(window), quick_folder() as folder:
        rig = real_rig(folder)
        await rig.live(log)
        with rig.journal() as journal:
            rows = list(journal.rows(SPACE))
    return {row.since: row for row in rows if isinstance(row, RecordRow) and row.turn is not None}


@effort(15)
@given(log=dialogue(SPACE), window=st.sampled_from([4, 8, 64]))
async def test_parents_are_earlier_and_share_the_root(log: list[Sent], window: int) -> None:
    turns = await turns_of(log, window)
    for position, row in turns.items():
        assert row.turn is not None
        placed = row.turn.placement
        assert row.branch == placed.branch
        assert row.turn.turn_id not in {placed.parent_turn_id, *placed.other_parents}
        if placed.parent_position is None:
            assert placed.rule is Rule.NEW_ROOT
            assert (placed.depth, placed.parent_turn_id) == (0, None)
            assert placed.branch in _positions(turns, row.turn.turn_id, position)  # a revised root keeps its branch
            continue
        assert placed.parent_position < position
        parent = turns[placed.parent_position]
        assert parent.turn is not None
        assert parent.turn.turn_id == placed.parent_turn_id
        assert (parent.branch, parent.turn.placement.depth + 1) == (placed.branch, placed.depth)
        assert placed.branch in turns
        assert placed.interaction in turns
        assert {other.turn_id for other in placed.runners_up} <= {each.provenance[0] for each in turns.values()}


def _positions(turns: dict[int, RecordRow], turn_id: str, last: int) -> set[int]:
    """Return the positions up to ``last`` at which a turn came."""
    return {position for position, row in turns.items() if row.provenance == (turn_id,) and position <= last}
