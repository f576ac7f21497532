"""What waits in a partition: bounded in memory, finished in order, never forgotten."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.effects import Inbound
from streams.kafka import queues
from streams.kafka.queues import Queue
from streams.kafka.room import Room


def event(offset: int) -> Inbound:
    return Inbound(offset, b"x" * 100)


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 6), st.integers(1, 8))
def test_every_event_is_taken_once_and_in_order_whatever_has_room(arrivals: list[int], lane: int, limit: int) -> None:
    log = list(range(0, 3 * sum(arrivals), 3))
    room, taken, arrived = Room(), list[int](), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queues, "LANE", lane)  # small, so that much goes beyond it
        queue = Queue(room)
        for count in [*arrivals, 0]:
            for offset in log[arrived : arrived + count]:
                queue.add(event(offset))
            arrived += count
            while queue.open and (count == 0 or not queue.must_refill):
                if queue.must_refill:
                    for offset in [one for one in log if one >= queue.open[0]]:
                        if not queue.refill(event(offset)):
                            break
                some = [record.offset for record in queue.take(limit)]
                assert len(queue.records) <= lane
                taken += some
                queue.finish(some[-1])
    assert (taken, room.used) == (log, 0)


def test_what_is_forgotten_gives_its_room_back() -> None:
    room = Room()
    queue = Queue(room)
    for offset in range(5):
        queue.add(event(offset))
    assert room.used > 5 * 100
    queue.forget()
    assert (room.used, list(queue.open)) == (0, [])


async def test_who_brings_more_than_there_is_room_for_waits() -> None:
    room = Room(limit=100)
    room.take(150)
    waiting = asyncio.create_task(room.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    room.give(60)
    await asyncio.wait_for(waiting, 5)
