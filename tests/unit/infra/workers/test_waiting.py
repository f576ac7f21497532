"""What lanes wait for is told while they wait; an operator's newest word counts."""

from __future__ import annotations

import asyncio

import pytest

from stages.contract import Unavailable
from streams.kafka.waiting import Pause, TellingPatience, Waits


async def test_who_waits_is_told_until_there_is_an_answer() -> None:
    waits, answers = Waits(), iter([Unavailable("no index"), 7])
    seen: list[list[str]] = []

    async def call() -> int:
        answer = next(answers)
        if isinstance(answer, Unavailable):
            raise answer
        seen.append(waits.told())
        return int(str(answer))

    assert await TellingPatience(first=0, waits=waits).ask("route of 'a/b'", call) == 7
    assert seen == [["route of 'a/b': no index"]]
    assert waits.told() == []


async def test_who_gives_up_waits_no_more() -> None:
    waits = Waits()

    async def call() -> int:
        msg = "no index"
        raise Unavailable(msg)

    with pytest.raises(Unavailable):
        await TellingPatience(tries=2, first=0, waits=waits).ask("route", call)
    assert waits.told() == []


async def test_the_newest_word_counts_in_whatever_order_partitions_are_read() -> None:
    pause = Pause()
    assert [pause.take((5, True)), pause.take((4, False)), pause.take((5, True))] == [True, False, False]
    waiting = asyncio.create_task(pause.wait())
    await asyncio.sleep(0)
    assert (pause.paused, waiting.done()) == (True, False)
    assert pause.take((6, False))
    await asyncio.wait_for(waiting, 5)
    assert not pause.paused
