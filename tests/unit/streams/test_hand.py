"""The record in hand: what the next process finds of the one that ended, and what the watchdog sees on a stack."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import FrameType

import pytest

from schemas.space import Space
from stages.contract import Unavailable
from streams.hand import BATCH, Hand, Held, InHand
from streams.watchdog import decided

SPACE = Space("acme/u-1")
RECORD = Held("route", SPACE, 7)


class Ended(BaseException):
    """The process is gone."""


def ended_with(path: Path, *notes: Held) -> None:
    """Let a process end with the last of these in hand: nothing puts it down."""
    hand = Hand(path).__enter__()
    for note in notes:
        hand.take(note.note())


def test_what_a_process_had_in_hand_is_found_once(tmp_path: Path) -> None:
    path = tmp_path / "log.hand"
    ended_with(path, Held("a-stage-with-a-long-name", SPACE, 123_456_789), RECORD)
    with Hand(path) as hand:
        assert hand.dropped == RECORD
        assert hand.fell_at("route", SPACE) == RECORD.offset
        assert hand.fell_at("commit", SPACE) is None
        assert hand.fell_at("route", Space("acme/other")) is None
    with Hand(path) as again:
        assert again.dropped is None
        assert again.fell_at("route", SPACE) is None


def test_only_the_batch_that_a_process_died_with_is_tried_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.hand"
    ended_with(path, Held("route", SPACE, BATCH))
    with Hand(path) as hand:
        hand.passed("commit", SPACE)
        assert hand.fell_at("route", SPACE) == BATCH
        hand.passed("route", SPACE)
        assert hand.fell_at("route", SPACE) is None


def test_what_was_put_down_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "log.hand"
    hand = Hand(path).__enter__()
    hand.take(RECORD.note())
    hand.put_down()
    with Hand(path) as again:
        assert again.dropped is None


@pytest.mark.parametrize("bytes_", [b"\x01\x00\x05nope!", b"\x01\xff\xff", b"\x01\x00\x07["])
def test_a_broken_note_blames_nobody(tmp_path: Path, bytes_: bytes) -> None:
    path = tmp_path / "log.hand"
    path.write_bytes(bytes_)
    with Hand(path) as hand:
        assert hand.dropped is None


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"absent.*log\.hand cannot be written \(.*\); see to its disk"):
        Hand(tmp_path / "absent" / "log.hand").__enter__()


def test_outside_of_a_block_nothing_is_noted(tmp_path: Path) -> None:
    hand = Hand(tmp_path / "log.hand")
    hand.take(RECORD.note())
    hand.put_down()
    assert not hand.path.exists()


async def test_work_is_in_hand_while_it_runs_and_not_while_it_waits(tmp_path: Path) -> None:
    path, gate, seen = tmp_path / "log.hand", asyncio.Event(), list[str]()

    def noted() -> bool:
        return path.read_bytes()[0] == 1

    async def work() -> str:
        seen.append(f"before {noted()}")
        await gate.wait()
        seen.append(f"after {noted()}")
        return "done"

    with Hand(path) as hand:
        task = asyncio.ensure_future(_awaited(InHand(hand, RECORD, work())))
        await asyncio.sleep(0)
        seen.append(f"waiting {noted()}")
        gate.set()
        assert await task == "done"
    assert seen == ["before True", "waiting False", "after True"]


async def _awaited(work: InHand[str]) -> str:
    return await work


async def test_what_is_thrown_into_the_work_is_its_own_to_handle(tmp_path: Path) -> None:
    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "gave up"
        return "never"

    with Hand(tmp_path / "log.hand") as hand:
        task = asyncio.ensure_future(_awaited(InHand(hand, RECORD, work())))
        await asyncio.sleep(0)
        task.cancel()
        assert await task == "gave up"


async def test_the_record_is_found_on_the_stack_of_the_stage_that_decides_it() -> None:
    found: list[object] = []

    def deep(frame: FrameType | None) -> None:
        found.append(decided(frame))

    async def work() -> str:
        deep(sys._getframe())
        return "done"

    await InHand(Hand(), RECORD, work())
    (stuck,) = found
    assert stuck is not None
    assert (stuck.stage, stuck.space, stuck.offset) == ("route", SPACE, 7)  # type: ignore[attr-defined]  # a Stuck
    assert "in work" in stuck.report  # type: ignore[attr-defined]  # a Stuck
    assert decided(sys._getframe()) is None
    assert decided(None) is None
