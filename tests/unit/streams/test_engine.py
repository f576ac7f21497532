"""The engine apart from a runtime: its effects in their one order, waiting, and crashes."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from infra.models import HashEmbedder
from schemas.committed import Committed
from schemas.header import Skipped
from schemas.routed import Routed
from schemas.space import Space
from stages.commit import Commit
from stages.commit.state import CommitState
from stages.contract import Emit, Reject, Unavailable
from streams.effects import Cut
from streams.kafka.producing import RefusedWrite
from streams.stopped import StageCrashed
from streams.topology import COMMIT
from tests.fakes.recorder import SPACE, Recorder, engine, log, markers, wired
from tests.fakes.runtime import Died


async def test_effects_come_in_their_one_order() -> None:
    recorder = Recorder()
    await engine(recorder).advance(SPACE, log(*(f"turn {i}" for i in range(70))))
    assert recorder.order == ["outputs", "state", "offset"] * 3
    assert [len(cut.outputs) for cut in recorder.cuts] == [32, 32, 6]


async def test_offsets_not_above_the_state_header_are_repeats() -> None:
    recorder, records = Recorder(), log("one", "two")
    await engine(recorder).advance(SPACE, records)
    await engine(recorder).advance(SPACE, [*records, *log("three", start=3)])
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False), (2, "t3", False)]


async def test_unavailable_waits_and_makes_what_is_done_durable_first() -> None:
    recorder, calls = Recorder(), [0]

    def verdict(text: str) -> object:
        calls[0] += text == "two"
        return Unavailable("asleep") if text == "two" and calls[0] < 3 else None

    await engine(recorder, verdict).advance(SPACE, log("one", "two"))
    assert [len(cut.outputs) for cut in recorder.cuts] == [1, 1]
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False)]


async def test_unavailable_for_longer_than_patience_loses_nothing() -> None:
    recorder = Recorder()
    with pytest.raises(Unavailable):
        await engine(recorder, lambda text: Unavailable("gone") if text == "two" else None).advance(
            SPACE, log("one", "two")
        )
    await engine(recorder).advance(SPACE, log("one", "two"))
    assert recorder.outcomes() == [(0, "t1", False), (1, "t2", False)]


async def test_the_third_crash_at_a_record_is_a_letter_and_the_space_goes_on() -> None:
    recorder = Recorder()

    def verdict(text: str) -> object:
        return ZeroDivisionError("bug") if text == "two" else None

    for _ in range(2):
        with pytest.raises(StageCrashed, match=r"'t2' \(position 1 of 'acme/u-1'\)"):
            await engine(recorder, verdict).advance(SPACE, log("one", "two", "three"))
    await engine(recorder, verdict).advance(SPACE, log("one", "two", "three"))
    (letter,) = [letter for cut in recorder.cuts for letter in cut.letters]
    assert "ZeroDivisionError" in letter.reason
    assert not letter.input_fault
    assert recorder.outcomes()[-2:] == [(1, "t2", True), (2, "t3", False)]


async def test_what_stops_a_stage_is_no_crash_of_its_input() -> None:
    """A broker that refuses what a stage keeps would make letters of all that comes."""
    recorder = Recorder()
    for _ in range(4):
        with pytest.raises(RefusedWrite, match="no right"):
            await engine(recorder, lambda _text: RefusedWrite("no right")).advance(SPACE, log("one"))
    assert (recorder.crashed, recorder.cuts) == (0, [])


async def test_a_lane_that_has_much_to_do_lets_others_go_on_meanwhile() -> None:
    decided, seen = [0], set()

    def verdict(text: str) -> object:
        time.sleep(0.002)  # as a stage that computes, and asks nobody
        decided[0] += 1
        return Reject("as it is told")

    async def neighbour() -> None:
        while decided[0] < 30:
            seen.add(decided[0])
            await asyncio.sleep(0)

    busy = engine(Recorder(), verdict).advance(SPACE, log(*(f"turn {i}" for i in range(30))))
    await asyncio.gather(busy, neighbour())
    assert len(seen - {0}) > 3


class Clumsy(Commit):
    """A commit that cannot write the outcome of a letter."""

    async def decide(self, message: Routed | Skipped, state: CommitState) -> Emit[Committed, CommitState]:
        raise ZeroDivisionError


async def test_a_crash_while_marking_is_counted_and_stops_every_time() -> None:
    """The event is a letter already, so a third crash can make no other one of it."""
    recorder = Recorder()
    for times in (1, 2, 3, 4):
        last = wired(recorder, COMMIT.run_by(Clumsy(HashEmbedder())), is_last=True)
        skipped = [
            replace(marker, body=Skipped(header=marker.header, stage="route", reason="x").model_dump_json().encode())
            for marker in markers([0])
            if marker.header
        ]
        with pytest.raises(StageCrashed, match=r"'a'.*is a letter already"):
            await last.advance(SPACE, skipped)
        assert recorder.crashed == times
    assert recorder.cuts == []


class Mortal(Recorder):
    """Remembers crashes, as a journal does; dies once before the outputs of its third run."""

    runs: int = 0

    def count(self, stage: str, space: Space, offset: int) -> int:
        return self.crashed if offset == 2 else 0

    async def outputs(self, cut: Cut) -> None:
        self.runs += bool(cut.letters)
        if self.runs == 1:
            raise Died
        await super().outputs(cut)


async def test_a_letter_of_a_crash_says_the_same_if_the_process_died_before_it_was_written() -> None:
    """Its first line is the reason in memory, which no death on the way may change."""
    recorders = Recorder(), Mortal()
    for recorder in recorders:
        for _ in range(4):
            with suppress(StageCrashed, Died):
                crashing = engine(recorder, lambda text: ZeroDivisionError("bug") if text == "two" else None)
                await crashing.advance(SPACE, log("one", "two"))
    (calm,), (died,) = ({letter.reason for cut in one.cuts for letter in cut.letters} for one in recorders)
    assert died == calm
