"""Admission from the index: lanes share questions, and whoever waits hears of the answer or of the fault."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from schemas.space import Space
from stages.contract import Unavailable
from streams.kafka.gate import IndexGate
from streams.patience import Patience

A, B = Space("acme/a"), Space("acme/b")


class Marks:
    """An index that knows watermarks, and may fail."""

    def __init__(self) -> None:
        self.of: dict[Space, int] = {}
        self.asked: list[list[Space]] = []
        self.faults: list[Exception] = []

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        self.asked.append(list(spaces))
        if self.faults:
            raise self.faults.pop(0)
        return [self.of.get(space, -1) for space in spaces]


def gate(marks: Marks) -> IndexGate:
    return IndexGate(marks, Patience(first=0.001))


async def test_lanes_that_ask_at_once_share_a_question() -> None:
    marks = Marks()
    marks.of = {A: 3, B: 7}
    one = gate(marks)
    assert list(await asyncio.gather(one.look(A), one.look(B), one.look(A))) == [3, 7, 3]
    assert marks.asked == [[A, B]]
    assert (one.watermark(A), one.watermark(B), one.watermark(Space("acme/c"))) == (3, 7, -1)


async def test_a_lane_waits_until_its_space_is_far_enough() -> None:
    marks = Marks()
    one = gate(marks)
    waiting = asyncio.create_task(one.reached(A, 5))
    for position in range(6):
        await asyncio.sleep(0.02)
        assert not waiting.done()
        marks.of[A] = position
    await asyncio.wait_for(waiting, 5)


async def test_an_index_that_does_not_answer_is_asked_again() -> None:
    marks = Marks()
    marks.of, marks.faults = {A: 1}, [Unavailable("away"), Unavailable("still away")]
    assert await asyncio.wait_for(gate(marks).look(A), 5) == 1


async def test_a_fault_is_heard_by_all_who_wait_and_the_next_question_is_asked() -> None:
    marks = Marks()
    marks.of, marks.faults = {A: 1}, [RuntimeError("a bug")]
    one = gate(marks)
    heard = await asyncio.gather(one.look(A), one.look(B), return_exceptions=True)
    assert [str(fault) for fault in heard] == ["a bug", "a bug"]
    assert await asyncio.wait_for(one.look(A), 5) == 1


async def test_a_watermark_never_falls() -> None:
    marks = Marks()
    one = gate(marks)
    for answer, known in ((4, 4), (2, 4), (5, 5)):
        marks.of[A] = answer
        assert await one.look(A) == known


@pytest.mark.parametrize("known", [3, 4])
async def test_what_is_known_to_be_far_enough_is_not_asked_about(known: int) -> None:
    marks = Marks()
    marks.of[A] = known
    one = gate(marks)
    await one.look(A)
    await one.reached(A, 3)
    assert len(marks.asked) == 1
