"""Whatever a gateway does, in any order: every turn arrives, in the order of its space, under its one id."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch_client import (
    Accepted,
    AsyncClient,
    Client,
    Retries,
    TimedOut,
    Timeouts,
    TooMuch,
    Unavailable,
    Unreachable,
)
from tests.fakes.gateway_server import KEY, Fault, GatewayServer, Reply, serving
from tests.unit.infra.client.said import said

TRIES = {"until it is there": Retries(0.0005, 0.002, 20.0), "once": Retries(0.0, 0.0, 0.0)}
"""Once: the caller sends again, in order, what was not accepted."""

WEIGHTED = [fault for fault in Fault if "STALL" not in fault.name] * 4 + [Fault.STALL_BEFORE, Fault.STALL_AFTER]
"""A stall costs its time; the others cost nothing."""

_ALL_FAILURES: list[type[BaseException]] = [TooMuch, Unavailable, Unreachable, TimedOut]

Sent = list[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    faults: Sequence[Fault]
    turns: Sent
    max_turns: int
    tries: Retries

    @property
    def has_stalls(self) -> bool:
        return any("STALL" in fault.name for fault in self.faults)

    @property
    def timeouts(self) -> Timeouts:
        return Timeouts(5.0, 0.05 if self.has_stalls else 5.0)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    spaces = draw(st.lists(st.sampled_from(["acme/a", "acme/b", "acme/c"]), min_size=1, max_size=30))
    turns = [(space, f"t{number}") for number, space in enumerate(spaces)]
    faults = draw(st.lists(st.sampled_from(WEIGHTED), max_size=12))
    return Case(faults, turns, draw(st.integers(1, 8)), TRIES[draw(st.sampled_from(sorted(TRIES)))])


async def batched(url: str, case: Case) -> None:
    async with (
        AsyncClient(url, KEY, retries=case.tries, timeouts=case.timeouts) as client,
        client.batching(max_turns=case.max_turns, linger_ms=0.5) as batching,
    ):
        left = case.turns
        while left:
            futures = [await batching.send(space, said(turn_id)) for space, turn_id in left]
            ends = await asyncio.gather(*futures, return_exceptions=True)
            assert {type(end) for end in ends} <= {Accepted, *failing(case)}
            left = [one for one, end in zip(left, ends, strict=True) if not isinstance(end, Accepted)]


def failing(case: Case) -> list[type[BaseException]]:
    """Return what a caller may hear: nothing, where the client tries until the turn is there."""
    return _ALL_FAILURES if case.tries.deadline_s == 0 else []


def one_by_one(url: str, case: Case) -> None:
    with Client(url, KEY, retries=case.tries, timeouts=case.timeouts) as client:
        for space, turn_id in case.turns:
            while True:
                try:
                    assert client.publish(space, said(turn_id)) == Accepted((turn_id,), turn_id)
                except tuple(failing(case)):
                    continue
                break


def all_there(gateway: GatewayServer, turns: Sent) -> None:
    for space in {space for space, _ in turns}:
        assert gateway.distinct(space) == [turn_id for name, turn_id in turns if name == space]


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_every_gathered_turn_arrives_in_order(case: Case) -> None:
    with serving() as gateway:
        gateway.faults.extend(case.faults)
        asyncio.run(batched(gateway.url, case))
        all_there(gateway, case.turns)
        if not case.has_stalls:  # given up here, they are in flight there for long
            assert max(gateway.most_at_once[space] for space, _ in case.turns) == 1
        if not case.faults:
            assert sum(map(len, gateway.log.values())) == len(case.turns)


@settings(max_examples=20, deadline=None)
@given(case=cases())
def test_every_single_turn_arrives_in_order(case: Case) -> None:
    with serving() as gateway:
        gateway.faults.extend(case.faults)
        one_by_one(gateway.url, case)
        all_there(gateway, case.turns)


def test_a_fault_that_stays_is_told_in_the_end() -> None:
    """What the two above rest on: a gateway that takes nothing is not taken for one that does."""
    with serving() as gateway, Client(gateway.url, KEY, retries=Retries(0.0005, 0.002, 0.05)) as client:
        gateway.faults.extend([Reply(503)] * 999)
        with pytest.raises(Unavailable):
            client.publish("acme/a", said("t1"))
        assert gateway.log["acme/a"] == []
