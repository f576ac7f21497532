"""The publisher that gathers turns, for programs with threads."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from anabranch_client import (
    Accepted,
    Batching,
    Client,
    Retries,
    Unavailable,
    Unreachable,
    WrongUse,
)
from tests.fakes.gateway_server import KEY, Fault, GatewayServer, Reply
from tests.unit.infra.client.said import said

SPACE = "acme/mia"
NEVER_MS = 60_000.0
"""Longer than a test may last: only a full request, a flush or the end sends."""


def test_threads_share_a_publisher(gateway: GatewayServer) -> None:
    """Each thread's turns of a space are there in its order, and the client recalls behind them."""
    futures: list[Future[Accepted]] = []

    def speak(batching: Batching, name: str) -> None:
        futures.extend(batching.send(SPACE, said(f"{name}{number}")) for number in range(50))

    gateway.faults.extend([Fault.DROP_AFTER, Fault.TOO_MANY, Fault.BUSY_AFTER])
    with Client(gateway.url, KEY, retries=Retries(0.001, 0.01, 5.0)) as client:
        with client.batching(max_turns=7, linger_ms=1.0) as batching:
            threads = [threading.Thread(target=speak, args=(batching, name)) for name in "abc"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not futures[-1].cancel()  # it is under way
            batching.flush()
            assert all(future.done() for future in futures)
        assert sorted(one for future in futures for one in future.result().turn_ids) == sorted(gateway.distinct(SPACE))
        client.recall(SPACE, "q")
    for name in "abc":
        own = [one for one in gateway.distinct(SPACE) if one.startswith(name)]
        assert own == [f"{name}{number}" for number in range(50)]
    assert gateway.asked[-1].body["after"] == gateway.distinct(SPACE)[-1]


def test_threads_wait_for_room(gateway: GatewayServer) -> None:
    gateway.faults.extend([Fault.BUSY] * 9999)
    ids = [f"t{number}" for number in range(60)]
    sent: list[Future[Accepted]] = []
    with (
        Client(gateway.url, KEY, retries=Retries(0.001, 0.01, 20.0)) as client,
        client.batching(max_waiting_bytes=2000, linger_ms=0) as batching,
    ):
        thread = threading.Thread(target=lambda: sent.extend(batching.send(SPACE, said(one)) for one in ids))
        thread.start()
        thread.join(0.1)
        assert len(sent) < 20
        gateway.faults.clear()
        thread.join(10.0)
        assert len(sent) == 60
    assert gateway.distinct(SPACE) == ids


def test_what_fails_in_the_thread_reaches_its_caller(gateway: GatewayServer) -> None:
    gateway.faults.append(Reply(500))
    before = threading.active_count()
    with Client(gateway.url, KEY) as client, client.batching(linger_ms=0) as batching:
        failed = batching.send(SPACE, said("a"))
        with pytest.raises(Unavailable, match="500"):
            failed.result(5.0)
        with pytest.raises(WrongUse, match="tenant/space"):
            batching.send("acme", said("a"))
        batching.close()
        batching.close()
        with pytest.raises(WrongUse, match="closed"):
            batching.send(SPACE, said("b"))
    assert threading.active_count() <= before + 1  # the gateway's own thread for the connection may live on


def test_an_address_where_nobody_is_fails_all(gateway: GatewayServer) -> None:
    with Client(gateway.url.replace("127.0.0.1", "127.0.0.9"), KEY, retries=Retries(deadline_s=0)) as client:
        with client.batching(linger_ms=NEVER_MS) as batching:
            futures = [batching.send(SPACE, said(one)) for one in "ab"]
        for future in futures:
            with pytest.raises(Unreachable):
                future.result(0)
