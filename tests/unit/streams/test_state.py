"""State in parts: only what changed is written, and a torn save never mixes old and new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.state import EMPTY, Counts, StateHeader, StateRow, load, save

Store = dict[tuple[str, int], StateRow]


def stored(store: Store, rows: list[StateRow]) -> Store:
    return store | {(row.part, row.slot): row for row in rows}


def test_the_version_is_the_number_of_events_handled_wherever_the_cuts_are() -> None:
    """Two workers at one place write one number, so that the greatest is the one that has come furthest."""
    often, seldom = EMPTY, EMPTY
    for handled in range(1, 7):
        header = StateHeader(position=handled - 2, counts=Counts(emitted=handled - 1, alone=1))
        often, _ = save(often, header, {"a": bytes([handled])})
    seldom, _ = save(seldom, StateHeader(position=4, counts=Counts(emitted=5, alone=1)), {"a": bytes([6])})
    assert (often.header.version, seldom.header.version) == (6, 6)


def test_only_changed_parts_and_the_header_are_written() -> None:
    first, _ = save(EMPTY, StateHeader(position=0), {"a": b"1", "b": b"1"})
    _, rows = save(first, StateHeader(position=1), {"a": b"1", "b": b"2"})
    assert [row.part for row in rows] == ["b", ""]


def test_a_part_that_is_gone_is_not_loaded_again() -> None:
    first, one = save(EMPTY, StateHeader(position=0), {"a": b"1", "b": b"1"})
    _, two = save(first, StateHeader(position=1), {"a": b"1"})
    assert load(stored(stored({}, one), two).values()).parts == {"a": b"1"}


PARTS = st.dictionaries(st.sampled_from("abcd"), st.binary(max_size=3), max_size=4)


@given(states=st.lists(PARTS, min_size=1, max_size=6), torn=st.integers(0, 5))
def test_a_save_torn_anywhere_leaves_the_state_before_it(states: list[dict[str, bytes]], torn: int) -> None:
    store, saved = Store(), EMPTY
    for position, parts in enumerate(states):
        before = saved
        saved, rows = save(saved, StateHeader(position=position), parts)
        half = stored(store, rows[: min(torn, len(rows) - 1)])  # the header is written last, so it is missing
        assert load(half.values()).parts == before.parts
        store = stored(store, rows)
        assert load(store.values()) == saved
        assert load(store.values()).parts == parts


def test_a_header_whose_part_is_lost_says_the_way_out() -> None:
    _, rows = save(EMPTY, StateHeader(position=0), {"a": b"1"})
    with pytest.raises(ValueError, match="replay"):
        load([row for row in rows if row.part != "a"])


def test_an_older_row_that_comes_back_changes_nothing() -> None:
    first, one = save(EMPTY, StateHeader(position=0), {"a": b"1"})
    second, two = save(first, StateHeader(position=1), {"a": b"2"})
    assert load([*one, *two, *one]) == second


def test_a_header_stays_small() -> None:
    header = StateHeader()
    for position in range(100):
        header = header.seen(position, position, f"id{position}", header.counts)
    parts = {f"vectors-{n}": b"x" for n in range(12)} | {f"nodes-{n}": b"x" for n in range(12)}
    saved, _ = save(EMPTY, header, parts)
    assert len(saved.header.model_dump_json()) < 1500


NAMES = st.one_of(
    st.sampled_from(["chain", "working-", "a-b"]), st.from_regex(r"[a-z]{1,8}(-[0-9]{1,3})?", fullmatch=True)
)


@given(
    st.integers(0, 10**6).flatmap(
        lambda version: st.builds(
            StateHeader,
            version=st.just(version),
            parts=st.dictionaries(NAMES, st.tuples(st.integers(0, 1), st.integers(0, version)), max_size=8),
        )
    )
)
def test_a_header_is_read_as_it_was_written(header: StateHeader) -> None:
    assert StateHeader.model_validate_json(header.model_dump_json()) == header


def test_a_header_names_a_part_in_a_few_bytes() -> None:
    few, many = (StateHeader(version=9999, parts={f"people-{n}": (1, 9999 - 5 * n) for n in range(k)}) for k in (8, 64))
    assert len(many.model_dump_json()) - len(few.model_dump_json()) < 56 * 8


def test_a_header_with_malformed_parts_is_refused() -> None:
    text = StateHeader(version=3, parts={"a": (0, 1)}).model_dump_json()
    with pytest.raises(ValueError, match="parts"):
        StateHeader.model_validate_json(text.replace('".4"', '".x"'))
