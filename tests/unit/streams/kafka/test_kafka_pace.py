"""Lanes begin together, the further apart the slower cuts are."""

from __future__ import annotations

import asyncio

from streams.kafka.pace import Pace, departures, lanes


def _pace() -> Pace:
    return Pace(longest=0.25, times=1.0)


async def _begun(pace: Pace, count: int) -> list[float]:
    """Return when each of so many lanes that come at once began."""
    loop = asyncio.get_running_loop()

    async def lane() -> float:
        await pace.wait()
        return loop.time()

    return await asyncio.gather(*(lane() for _ in range(count)))


def _slow(pace: Pace, seconds: float) -> None:
    for _ in range(200):
        pace.took(seconds, 1)


async def test_nobody_waits_while_cuts_take_no_time() -> None:
    times = await _begun(_pace(), 5)
    assert max(times) - min(times) < 0.1


async def test_the_first_begins_at_once_and_those_behind_it_together_a_cut_later() -> None:
    pace = _pace()
    _slow(pace, 0.05)
    first, *others = await _begun(pace, 5)
    assert min(others) - first > 0.03
    assert max(others) - min(others) < 0.01


async def test_beats_are_never_further_apart_than_the_longest() -> None:
    pace = _pace()
    _slow(pace, 60.0)
    first, second = await _begun(pace, 2)
    assert second - first < 1.0


async def test_a_lane_that_is_cancelled_leaves_the_beat_to_the_others() -> None:
    pace = _pace()
    _slow(pace, 0.05)
    await pace.wait()
    gone, stays = asyncio.create_task(pace.wait()), asyncio.create_task(pace.wait())
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    assert gone.cancelled()


async def test_the_time_of_a_lane_is_shared_among_its_cuts() -> None:
    one, many = _pace(), _pace()
    one.took(0.1, 1)
    many.took(0.8, 8)
    assert one == many


def test_lanes_that_wait_for_departures_are_not_held_for_as_long_again() -> None:
    """Beats of a whole cut made cuts longer, and those the beats: the fault of a quiet installation."""
    sending, beginning = departures(), lanes()
    _slow(sending, 0.005)
    _slow(beginning, 0.005 + 2 * sending.apart)
    assert 0 < beginning.apart < sending.apart
