"""Positions in the engine: repeats, holes, other events at a known position, what can't be read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stages.contract import WINDOW, Duplicate
from streams.asking import CRASHES
from streams.effects import Inbound
from streams.state import StateHeader
from streams.stopped import BrokenOrder, StageCrashed
from streams.topology import LOCALIZE_STATE
from tests.fakes.recorder import SPACE, Recorder, engine, follower, log, markers, wired
from tests.fakes.stages import FakeLocalize, Seen

ORDERS = [
    ("in order", [0, 1, 2], [0, 1, 2]),
    ("repeats emit nothing", [0, 1, 0, 1, 2], [0, 1, 2]),
    ("a hole is read again from the input", [0, 3, 4], [0, 1, 2, 3, 4]),
    ("a hole at the start", [2], [0, 1, 2]),
]


@pytest.mark.parametrize(("what", "fed", "expected"), ORDERS, ids=[order[0] for order in ORDERS])
async def test_positions(what: str, fed: list[int], expected: list[int]) -> None:
    recorder = Recorder(inputs=markers(range(5)))
    await follower(recorder).advance(SPACE, markers(fed))
    assert [position for position, _, _ in recorder.outcomes()] == expected


async def test_a_hole_that_is_not_in_the_input_stops_and_says_the_way_out() -> None:
    with pytest.raises(BrokenOrder, match="replay"):
        await follower(Recorder()).advance(SPACE, markers([0, 2]))


async def test_a_hole_larger_than_a_read_is_filled_from_the_input_among_its_repeats() -> None:
    """Reads are bounded, and the input holds what was put there twice."""
    many = markers(range(100), ids="x" * 100)
    recorder = Recorder(inputs=[replace(r, offset=i) for i, r in enumerate([*many[:60], *many[20:60], *many[60:]], 1)])
    follow = follower(recorder)
    await follow.advance(SPACE, recorder.inputs[:3])
    await follow.advance(SPACE, recorder.inputs[-1:])
    assert [position for position, _, _ in recorder.outcomes()] == list(range(100))


async def test_a_hole_in_the_input_itself_is_found_wherever_a_read_ends() -> None:
    recorder = Recorder(inputs=markers([*range(50), *range(51, 100)], ids="x" * 100))
    with pytest.raises(BrokenOrder, match=r"misses position 50 of 'acme/u-1' before 99"):
        await follower(recorder).advance(SPACE, recorder.inputs[-1:])


async def test_another_event_at_a_known_position_stops() -> None:
    recorder = Recorder()
    await follower(recorder).advance(SPACE, markers([0, 1]))
    with pytest.raises(BrokenOrder, match="another event"):
        await follower(recorder).advance(SPACE, markers([1], ids="axcdefgh"))


def test_state_headers_know_the_ids_of_the_last_w_positions() -> None:
    header = StateHeader()
    for i in range(100):
        header = header.seen(i, i + 1, f"id{i}", header.counts)
    assert header.id_at(99) is not None
    assert header.id_at(36) is not None
    assert header.id_at(35) is None
    assert header.id_at(100) is None


async def test_a_record_without_a_header_stops_with_its_place() -> None:
    with pytest.raises(BrokenOrder, match=r"a record of turns.normalized at 12 has no header; replay"):
        await follower(Recorder()).advance(SPACE, [replace(markers([2])[0], header=None)])


async def test_a_record_of_another_version_stops_with_its_space_and_turn() -> None:
    (odd,) = (replace(record, marker=False) for record in markers([0]))
    recorder = Recorder()
    with pytest.raises(BrokenOrder, match=r"'a' \(position 0 of 'acme/u-1', offset 10\).*another version: start"):
        await follower(recorder).advance(SPACE, [odd])
    assert recorder.cuts == []


async def test_a_record_that_cannot_be_read_and_is_given_up_becomes_a_letter_with_its_position() -> None:
    odd, fine = (replace(record, marker=number == 1) for number, record in enumerate(markers([0, 1])))
    recorder = Recorder(crashed=CRASHES, said="quarantined by an operator")
    recorder.count = lambda stage, space, offset: CRASHES if offset == odd.offset else 0  # type: ignore[method-assign]
    await follower(recorder).advance(SPACE, [odd, fine])
    assert recorder.outcomes() == [(0, "a", True), (1, "b", True)]
    (letter,) = [letter for cut in recorder.cuts for letter in cut.letters]
    assert (letter.position, letter.original, letter.input_fault) == (0, odd.body, False)
    assert "quarantined by an operator" in letter.reason


async def test_a_later_stage_stops_where_memory_is_not_complete_enough_to_read() -> None:
    recorder = Recorder(complete=-1)
    await follower(recorder).advance(SPACE, markers(range(WINDOW), ids="x" * WINDOW))
    with pytest.raises(BrokenOrder, match=r"was given 64 of 'acme/u-1' while memory is complete to -1 only; replay"):
        await follower(recorder).advance(SPACE, markers([WINDOW], ids="x" * (WINDOW + 1)))


class Forgetful(FakeLocalize):
    """Takes what it has not seen for a repeat, which only the first stage may do."""

    async def decide(self, message: Any, state: Seen) -> Any:
        return Duplicate("I know it")


async def test_a_later_stage_that_takes_an_event_for_a_repeat_has_a_bug() -> None:
    first = Recorder()
    await engine(first).advance(SPACE, log("one"))
    (output,) = first.cuts[0].outputs
    later = wired(Recorder(), LOCALIZE_STATE.run_by(Forgetful()))
    with pytest.raises(StageCrashed, match=r"localize_state took 't1' of 'acme/u-1' for a repeat \(I know it\)"):
        await later.advance(SPACE, [Inbound(1, output.body, output.header)])
