"""A state is saved whole or not at all, however often a save is torn and whatever is tried after it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from streams.state import EMPTY, HEADER, StateHeader, StateRow, load, save
from tests.fakes.effort import effort

Parts = dict[str, bytes]
parts = st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2), max_size=3)


@dataclass(frozen=True)
class Save:
    """A state to save. If it is ``torn``, the header is not written, nor the rows that ``lost`` picks."""

    parts: Parts
    torn: bool
    lost: frozenset[int]


saves = st.builds(Save, parts, st.booleans(), st.frozensets(st.integers(0, 3)))


@effort(200)
@given(st.lists(saves, max_size=12))
def test_a_load_gives_the_last_whole_save_never_a_mix(tries: list[Save]) -> None:
    """Rows of a torn save may come in any number; the next save starts from what was loaded and may differ."""
    store: dict[tuple[str, int], StateRow] = {}
    whole: Parts = {}
    for position, one in enumerate(tries):
        before = load(store.values())
        saved, rows = save(before, StateHeader(position=position), one.parts)
        written = [row for n, row in enumerate(rows) if not (one.torn and (row.part == HEADER or n in one.lost))]
        store |= {(row.part, row.slot): row for row in written}
        if not one.torn:
            whole = one.parts
            assert load(store.values()) == saved
        assert load(store.values()).parts == whole


@effort(200)
@given(tries=st.lists(saves, max_size=12), kept=st.sets(st.integers(0, 60)))
def test_a_log_of_rows_gives_the_same_before_and_after_compaction(tries: list[Save], kept: set[int]) -> None:
    """A compacted topic holds the last row of each key for certain, and any of the earlier ones."""
    log: list[StateRow] = []
    whole: Parts = {}
    for one in tries:
        before = load(log) if log else EMPTY
        _, rows = save(before, StateHeader(), one.parts)
        log += [row for n, row in enumerate(rows) if not (one.torn and (row.part == HEADER or n in one.lost))]
        whole = whole if one.torn else one.parts
    last = {(row.part, row.slot): n for n, row in enumerate(log)}
    compacted = [row for n, row in enumerate(log) if n in kept or last[row.part, row.slot] == n]
    assert load(log).parts == load(compacted).parts == whole
