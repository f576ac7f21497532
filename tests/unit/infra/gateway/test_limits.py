"""A key's rate: a burst, then a steady flow, each key its own."""

from __future__ import annotations

import pytest

from infra.gateway import limits
from infra.gateway.backlog import Backlog
from infra.gateway.limits import Buckets
from infra.gateway.served import TooManyPending
from schemas.space import Space

SPACE = Space("acme/u")


def test_a_burst_then_the_rate() -> None:
    clock = [0.0]
    buckets = Buckets(5.0, now=lambda: clock[0])
    assert [buckets.take("a") for _ in range(10)] == [0.0] * 10
    assert buckets.take("a") == pytest.approx(0.2)
    clock[0] += 0.2
    assert buckets.take("a") == 0.0
    assert buckets.take("a") > 0.0
    assert buckets.take("b") == 0.0


def test_a_rate_below_one_lets_single_requests_through() -> None:
    clock = [0.0]
    buckets = Buckets(0.1, now=lambda: clock[0])
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == pytest.approx(10.0)
    clock[0] += 10.0
    assert buckets.take("a") == 0.0


def test_idle_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_KNOWN", 10)
    clock = [0.0]
    buckets = Buckets(5.0, now=lambda: clock[0])
    for number in range(100):
        clock[0] += 1.0
        buckets.take(f"k{number}")
    assert len(buckets._left) <= 10


async def test_a_queue_on_kafka_is_looked_at_when_it_may_be_too_long() -> None:
    looks: list[Space] = []
    waiting = 0

    async def look(space: Space) -> int:
        looks.append(space)
        return waiting

    backlog = Backlog(10, look)
    for _ in range(5):
        await backlog.take(SPACE, 2)
    assert looks == []
    waiting = 9
    with pytest.raises(TooManyPending, match="9 events"):
        await backlog.take(SPACE, 2)
    await backlog.take(Space("acme/v"), 2)
    waiting = 0
    await backlog.take(SPACE, 2)
    assert looks == [SPACE, SPACE]


async def test_more_than_the_limit_at_once_is_taken_by_an_empty_queue() -> None:
    async def look(_space: Space) -> int:
        return 0

    backlog = Backlog(10, look)
    await backlog.take(SPACE, 50)
    await backlog.take(SPACE, 50)
