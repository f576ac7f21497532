"""How things lie on topics: what is written is what is read, and partitions are murmur2's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.header import EventKind, Header
from schemas.space import Space
from streams.effects import Inbound, Outbound
from streams.kafka.wire import (
    HEADER,
    MARKER,
    OWN,
    TRACE,
    Record,
    as_record,
    inbound,
    next_row,
    outbound,
    partition_of,
    read_next,
    read_state_row,
    space_of,
    state_row,
)
from streams.state import StateRow

SPACE = Space("acme/u-1")
AT = Header(space=SPACE, position=3, kind=EventKind.TURN, event_id="t3", offset=17)


@pytest.mark.parametrize(
    ("key", "hashed"), [("21", -973932308), ("foobar", -790332482), ("a-little-bit-long-string", -985981536)]
)
def test_partitions_are_those_of_kafkas_own_clients(key: str, hashed: int) -> None:
    """Known values of Kafka's murmur2 (its own unit tests)."""
    assert partition_of(key, 24) == (hashed & 0x7FFFFFFF) % 24


@pytest.mark.parametrize(("marker", "trace"), [(False, None), (True, None), (False, b"00-ab-cd-01")])
def test_an_output_is_read_as_it_was_written(marker: bool, trace: bytes | None) -> None:  # noqa: FBT001 - a case
    sent = outbound(Outbound(AT, b"{}", marker=marker, trace=trace), "turns.normalized", 5)
    assert (sent.topic, sent.partition, sent.key) == ("turns.normalized", 5, b"acme/u-1")
    read = inbound(as_record(5, 40, sent.key, sent.value, sent.headers))
    assert read == Inbound(40, b"{}", AT, marker=marker, partition=5, trace=trace)


def test_an_event_of_the_log_has_no_header_and_may_be_our_own() -> None:
    read = inbound(as_record(0, 0, b"acme/u-1", None, [(OWN, b"1"), (TRACE, b"x"), (OWN, b"2")]))
    assert read == Inbound(0, b"", own=True, trace=b"x")


def test_a_header_that_cannot_be_read_is_none_so_that_the_engine_says_so() -> None:
    assert inbound(Record(0, 0, b"acme/u-1", b"{}", {HEADER: b"\xff", MARKER: b"1"})).header is None


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"nobody", b"a/b/c", b"a b/c"])
def test_a_key_that_names_no_space_is_none(key: bytes | None) -> None:
    assert space_of(key) is None


@given(st.sampled_from(["", "turns-3", "vectors-0"]), st.integers(0, 1), st.integers(0, 2**40), st.binary())
def test_a_state_row_is_read_as_it_was_written(part: str, slot: int, version: int, data: bytes) -> None:
    row = StateRow(part, slot, version, data)
    sent = state_row(SPACE, row, "state.route", 2)
    assert read_state_row(sent.key, sent.value) == (SPACE, row)


def test_partition_rows_are_no_states() -> None:
    sent = next_row(12, "state.route", 2)
    assert (read_next(sent.value), read_state_row(sent.key, sent.value)) == (12, None)
    assert read_state_row(b"quarantine 7", b"{}") is None
