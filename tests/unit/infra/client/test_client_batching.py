"""The publisher that gathers turns: what goes together, what waits for what, and who hears of failures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from time import monotonic

import pytest

from anabranch_client import (
    Accepted,
    AsyncBatching,
    AsyncClient,
    Invalid,
    NotAuthorized,
    Retries,
    Timeouts,
    TooMuch,
    Unavailable,
    WrongUse,
)
from tests.fakes.gateway_server import KEY, Fault, GatewayServer, Reply
from tests.unit.infra.client.said import said

SPACE = "acme/mia"
NEVER_MS = 60_000.0
"""Longer than a test may last: only a full request, a flush or the end sends."""


def client_of(gateway: GatewayServer, deadline_s: float = 5.0) -> AsyncClient:
    return AsyncClient(gateway.url, KEY, retries=Retries(0.001, 0.01, deadline_s), timeouts=Timeouts(1.0, 2.0))


async def ends(futures: Sequence[Awaitable[Accepted]]) -> list[Accepted | BaseException]:
    return await asyncio.gather(*futures, return_exceptions=True)


async def send_all(batching: AsyncBatching, *ids: str, space: str = SPACE) -> list[asyncio.Future[Accepted]]:
    return [await batching.send(space, said(one, " " if "blank" in one else "text")) for one in ids]


def sizes(gateway: GatewayServer) -> list[int]:
    return [len(asked.body.get("turns", [0])) for asked in gateway.asked]


async def test_turns_go_together_as_they_fill_a_request(gateway: GatewayServer) -> None:
    ids = [f"t{number}" for number in range(25)]
    async with client_of(gateway) as client, client.batching(max_turns=10, linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, *ids)
        await asyncio.wait(futures[:20])
        assert not any(future.done() for future in futures[20:])
        await batching.flush()
        assert await ends(futures) == [
            Accepted((one,), last) for one, last in zip(ids, ["t9"] * 10 + ["t19"] * 10 + ["t24"] * 5, strict=True)
        ]
    assert (gateway.log[SPACE], sizes(gateway)) == (ids, [10, 10, 5])


async def test_a_request_is_full_by_bytes_too(gateway: GatewayServer) -> None:
    async with client_of(gateway) as client:
        async with client.batching(max_bytes=1000, linger_ms=NEVER_MS) as batching:
            for number in range(6):
                await batching.send(SPACE, said(f"t{number}", "x" * 300))
        assert sizes(gateway) == [2, 2, 2]


async def test_a_turn_waits_no_longer_than_it_may(gateway: GatewayServer) -> None:
    async with client_of(gateway) as client, client.batching(linger_ms=50.0) as batching:
        begun = monotonic()
        futures = await send_all(batching, "t1", "t2")
        await asyncio.wait_for(asyncio.gather(*futures), 5.0)
        assert monotonic() - begun >= 0.05
        assert sizes(gateway) == [2]


async def test_one_request_of_a_space_is_in_flight_and_spaces_go_side_by_side(gateway: GatewayServer) -> None:
    gateway.gathering = 8
    spaces = [f"acme/{number}" for number in range(8)]
    async with client_of(gateway) as client, client.batching(max_turns=2, linger_ms=1.0) as batching:
        for number in range(6):
            for space in spaces:
                await send_all(batching, f"t{number}", space=space)
    assert [gateway.log[space] for space in spaces] == [[f"t{number}" for number in range(6)]] * 8
    assert [gateway.most_at_once[space] for space in spaces] == [1] * 8
    assert gateway.most_at_once[""] == 8


async def test_no_more_spaces_go_at_once_than_there_are_connections(gateway: GatewayServer) -> None:
    gateway.gathering, gateway.pause_s = 64, 0.05
    async with client_of(gateway) as client, client.batching(linger_ms=0) as batching:
        for number in range(90):
            await send_all(batching, "t", space=f"acme/{number}")
    assert len(gateway.asked) == 90
    assert gateway.most_at_once[""] == 64


async def test_only_as_many_bytes_wait_as_may(gateway: GatewayServer) -> None:
    gateway.faults.extend([Fault.BUSY] * 50)
    async with client_of(gateway) as client, client.batching(max_waiting_bytes=2000, linger_ms=0) as batching:
        first = await send_all(batching, "t0", *(f"t{number}" for number in range(1, 10)))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await send_all(batching, *(f"u{number}" for number in range(100)))
        assert not first[-1].done()
        gateway.faults.clear()
        await asyncio.wait_for(batching.send(SPACE, said("large", "x" * 9000)), 5.0)
    ids = [one for one in gateway.distinct(SPACE) if not one.startswith("u")]
    assert ids == [*(f"t{number}" for number in range(10)), "large"]


async def test_a_wrong_turn_fails_alone(gateway: GatewayServer) -> None:
    async with client_of(gateway) as client, client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, "a", "blank1", "b", "c", "d", "blank2")
        await batching.flush()
        outcomes = await ends(futures)
    assert [type(outcome) for outcome in outcomes] == [Accepted, Invalid, Accepted, Accepted, Accepted, Invalid]
    assert isinstance(outcomes[1], Invalid)
    assert outcomes[1].turn_ids == ("blank1",)
    assert gateway.log[SPACE] == ["a", "b", "c", "d"]


async def test_a_gateway_that_takes_less_at_once_gets_less(gateway: GatewayServer) -> None:
    gateway.max_turns = 2
    async with client_of(gateway) as client, client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, *"abcdefg")
        await batching.flush()
        assert all(isinstance(outcome, Accepted) for outcome in await ends(futures))
        gateway.max_turns = 0
        (alone,) = await send_all(batching, "h")
        await batching.flush()
        with pytest.raises(TooMuch):
            await alone
    assert gateway.log[SPACE] == [*"abcdefg"]


async def test_what_may_come_again_is_not_overtaken(gateway: GatewayServer, caplog: pytest.LogCaptureFixture) -> None:
    """Those behind it fail unsent; sent again in order, all are there in order."""
    gateway.faults.extend([Fault.DROP_AFTER, Reply(500)])
    async with client_of(gateway) as client, client.batching(max_turns=2, linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, *"abcde")
        others = await send_all(batching, "o", space="acme/other")
        outcomes = await ends(futures)
        assert [type(outcome) for outcome in outcomes] == [Unavailable] * 5
        taken = [outcome.is_maybe_taken for outcome in outcomes if isinstance(outcome, Unavailable)]
        assert taken == [True, True, False, False, False]
        assert "turns of this space before it did not arrive; publish again" in str(outcomes[2])
        assert "2 turns of acme/mia are not accepted: publish to acme/mia (turns a, b)" in caplog.text
        assert "3 turns of acme/mia are not accepted" in caplog.text
        gateway.faults.clear()
        again = await send_all(batching, *"abcde")
    assert all(isinstance(outcome, Accepted) for outcome in await ends([*again, *others]))
    assert gateway.distinct(SPACE) == [*"abcde"]


async def test_behind_halves_that_fail_nothing_is_sent(gateway: GatewayServer) -> None:
    """A request is halved for its wrong turn, and the gateway goes away after the first quarter."""
    gateway.max_turns = 4
    gateway.faults.extend([Fault.NONE, Fault.NONE, Reply(500)])
    async with client_of(gateway) as client, client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, *"abcdefgh")
        await batching.flush()
        outcomes = await ends(futures)
    assert [type(outcome) for outcome in outcomes] == [Accepted] * 4 + [Unavailable] * 4
    gateway.faults.clear()
    gateway.faults.extend([Fault.NONE, Reply(500)])
    async with client_of(gateway) as client, client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, *"ijklmnop")
        await batching.flush()
        assert {type(outcome) for outcome in await ends(futures)} == {Unavailable}
    assert gateway.log[SPACE] == [*"abcd"]


async def test_a_refused_key_fails_every_turn(gateway: GatewayServer) -> None:
    async with AsyncClient(gateway.url, "another") as client, client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, "a", "b")
        await batching.flush()
        assert [type(outcome) for outcome in await ends(futures)] == [NotAuthorized] * 2
    assert len(gateway.asked) == 1


async def test_a_caller_may_stop_listening(gateway: GatewayServer) -> None:
    async with client_of(gateway) as client, client.batching(linger_ms=NEVER_MS) as batching:
        first, second = await send_all(batching, "a", "b")
        first.cancel()
        await batching.flush()
        assert await second == Accepted(("b",), "b")
    assert gateway.log[SPACE] == ["a", "b"]


async def test_a_publisher_that_is_cancelled_ends_every_future(gateway: GatewayServer) -> None:
    gateway.faults.extend([Fault.STALL_AFTER] * 9)
    async with client_of(gateway) as client:
        batching = client.batching(max_turns=1, linger_ms=NEVER_MS)
        futures = await send_all(batching, "a", "b")
        assert await asyncio.to_thread(gateway.called.wait, 5.0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(batching.close(), 0.01)
        outcomes = await ends(futures)
        assert [one.is_maybe_taken for one in outcomes if isinstance(one, Unavailable)] == [True, False]
        with pytest.raises(WrongUse, match="turn c of acme/mia came to a publisher that is closed"):
            await batching.send(SPACE, said("c"))


async def test_an_error_of_ours_reaches_the_callers(gateway: GatewayServer) -> None:
    client = client_of(gateway)
    async with client.batching(linger_ms=NEVER_MS) as batching:
        futures = await send_all(batching, "a", "b")
        await client.close()
        await batching.flush()
        outcomes = await ends(futures)
    assert all(isinstance(outcome, RuntimeError) for outcome in outcomes)


@pytest.mark.parametrize("limits", [{"max_turns": 0}, {"max_bytes": 0}, {"linger_ms": -1}, {"max_waiting_bytes": 0}])
async def test_limits_that_can_be_none_are_refused(gateway: GatewayServer, limits: dict[str, int]) -> None:
    async with client_of(gateway) as client:
        with pytest.raises(WrongUse, match="at least"):
            client.batching(**limits)
