"""One request of a space is in flight, whoever publishes: threads, tasks, and the publisher that gathers turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from anabranch_client import Accepted, AnabranchError, AsyncClient, Client, Retries, Timeouts, Turn
from anabranch_client.queues import Queues
from tests.fakes.gateway_server import KEY, Fault, GatewayServer, Reply
from tests.unit.infra.client.said import said

SPACE = "acme/mia"
SLOW = Retries(0.05, 0.05, 10.0)
LATE = Timeouts(5.0, 0.1)
SEEN = 10.0
"""Seconds within which what must happen is seen."""


def until(is_so: Callable[[], bool]) -> None:
    """Return once it is so."""
    end = time.monotonic() + SEEN
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


def waiting(client: Client | AsyncClient, space: str = SPACE) -> int:
    """Return how many hold a place in a queue."""
    return len(client._calls.queues._queues.get(space, ()))


def ids_of_recall(gateway: GatewayServer) -> list[str | None]:
    return [asked.body.get("after") for asked in gateway.asked if asked.path.endswith("recall")]


FIRST_IS_LATE = [
    pytest.param([Fault.STALL_AFTER], id="taken, and its answer never comes"),
    pytest.param([Fault.STALL_BEFORE, Fault.DROP_BEFORE], id="not taken until its third try"),
    pytest.param([Fault.BUSY_AFTER, Fault.TOO_MANY, Fault.BUSY], id="taken, then put off"),
]
"""Without a queue the ones behind overtake, and the last answer is of the first write."""


@pytest.mark.parametrize("faults", FIRST_IS_LATE)
def test_threads_publish_in_the_order_of_their_calls(gateway: GatewayServer, faults: list[Fault]) -> None:
    gateway.faults.extend(faults)
    ids = [f"t{number}" for number in range(6)]
    with Client(gateway.url, KEY, retries=SLOW, timeouts=LATE) as client, ThreadPoolExecutor(6) as pool:
        futures = []
        with client._calls.queues.place(SPACE):  # so that they come one after another
            for one in ids:
                futures.append(pool.submit(client.publish, SPACE, said(one)))
                until(lambda: waiting(client) > len(futures))
        assert [future.result() for future in futures] == [Accepted((one,), one) for one in ids]
        client.recall(SPACE, "q")
        assert len(client._calls.queues) == 0
    assert gateway.distinct(SPACE) == ids
    assert ids_of_recall(gateway) == [ids[-1]]


@pytest.mark.parametrize("faults", FIRST_IS_LATE)
async def test_tasks_publish_in_the_order_of_their_calls(gateway: GatewayServer, faults: list[Fault]) -> None:
    gateway.faults.extend(faults)
    ids = [f"t{number}" for number in range(6)]
    async with AsyncClient(gateway.url, KEY, retries=SLOW, timeouts=LATE) as client:
        ends = await asyncio.gather(*(client.publish(SPACE, said(one)) for one in ids))
        assert ends == [Accepted((one,), one) for one in ids]
        await client.recall(SPACE, "q")
        assert len(client._calls.queues) == 0
    assert gateway.distinct(SPACE) == ids
    assert ids_of_recall(gateway) == [ids[-1]]


async def test_one_request_of_a_space_is_in_flight_and_spaces_go_side_by_side(gateway: GatewayServer) -> None:
    gateway.gathering = 4
    spaces = [f"acme/{number}" for number in range(4)]
    async with AsyncClient(gateway.url, KEY, retries=SLOW) as client:
        await asyncio.gather(*(client.publish(space, said(f"t{n}")) for n in range(4) for space in spaces))
    assert [gateway.most_at_once[space] for space in spaces] == [1] * 4
    assert gateway.most_at_once[""] == 4


async def test_others_have_their_turn_between_the_requests_of_many_turns(gateway: GatewayServer) -> None:
    many = [said(f"m{number}") for number in range(250)]
    async with AsyncClient(gateway.url, KEY, retries=SLOW) as client:
        await asyncio.gather(client.publish_many(SPACE, many), client.publish(SPACE, said("one")))
    sizes = [len(asked.body.get("turns", [0])) for asked in gateway.asked]
    assert sizes == [100, 1, 100, 50]
    assert gateway.most_at_once[SPACE] == 1


def test_turns_may_come_from_a_publish_to_the_same_space(gateway: GatewayServer) -> None:
    """A caller's code runs while its client holds no place: it would wait for itself."""
    with Client(gateway.url, KEY, retries=SLOW) as client:

        def turns() -> Iterator[Turn]:
            yield said("b")
            client.publish(SPACE, said("a"))
            yield said("c")

        client.publish_many(SPACE, turns())
    assert gateway.log[SPACE] == ["a", "b", "c"]


def test_gathered_turns_and_others_wait_for_each_other(gateway: GatewayServer) -> None:
    """The publisher has a thread and a loop of its own; the queue is one."""
    gateway.pause_s = 0.002
    with Client(gateway.url, KEY, retries=SLOW) as client, ThreadPoolExecutor(4) as pool:
        with client.batching(max_turns=3, linger_ms=0) as batching:
            gathered = [batching.send(SPACE, said(f"g{number}")) for number in range(30)]
            single = [pool.submit(client.publish, SPACE, said(f"s{number}")) for number in range(20)]
            assert all(future.result(SEEN) for future in (*gathered, *single))
        client.recall(SPACE, "q")
        assert len(client._calls.queues) == 0
    assert gateway.most_at_once[SPACE] == 1
    assert ids_of_recall(gateway) == [gateway.log[SPACE][-1]]
    assert [one for one in gateway.log[SPACE] if one[0] == "g"] == [f"g{number}" for number in range(30)]


async def test_who_gives_up_keeps_nobody_waiting(gateway: GatewayServer) -> None:
    """One in flight and one that waits are cancelled: those behind go on, in order, and nothing is kept."""
    gateway.faults.append(Fault.STALL_BEFORE)
    async with AsyncClient(gateway.url, KEY, retries=SLOW) as client:
        tasks = [asyncio.create_task(client.publish(SPACE, said(f"t{number}"))) for number in range(5)]
        assert await asyncio.to_thread(gateway.called.wait, SEEN)
        tasks[2].cancel()
        await asyncio.wait([tasks[2]])
        assert waiting(client) == 4
        tasks[0].cancel()
        tasks[1].cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(end, asyncio.CancelledError) for end in ends] == [True, True, True, False, False]
        assert len(client._calls.queues) == 0
    assert gateway.log[SPACE] == ["t3", "t4"]


async def test_an_error_lets_the_next_one_go(gateway: GatewayServer) -> None:
    gateway.faults.extend([Reply(500), Reply(200, b"no gzip", {"Content-Encoding": "gzip"})])
    async with AsyncClient(gateway.url, KEY, retries=SLOW) as client:
        calls = (client.publish(SPACE, said(f"t{number}")) for number in range(3))
        ends = await asyncio.gather(*calls, return_exceptions=True)
        assert [isinstance(end, AnabranchError) for end in ends] == [True, True, False]
        assert len(client._calls.queues) == 0
    assert gateway.log[SPACE] == ["t2"]


def test_spaces_left_by_all_are_not_kept() -> None:
    queues = Queues()
    for number in range(1000):
        with queues.place(f"acme/{number}") as first, queues.place(f"acme/{number}") as second:
            assert (first.done(), second.done(), len(queues)) == (True, False, 1)
    assert len(queues) == 0


def test_the_first_to_leave_lets_in_the_next_that_still_waits() -> None:
    queues = Queues()
    places = [queues.place("a/b") for _ in range(4)]
    first, gone, left, last = [place.__enter__() for place in places]
    assert gone.cancel()  # as a task does that is cancelled, before it leaves
    places[2].__exit__(None, None, None)
    places[0].__exit__(None, None, None)
    assert (first.done(), left.done(), last.done()) == (True, False, False)
    places[1].__exit__(None, None, None)
    assert last.done()
    places[3].__exit__(None, None, None)
    assert len(queues) == 0
