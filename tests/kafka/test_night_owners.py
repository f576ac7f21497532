"""Fault row 27: a tenant is one process's as the broker knows it, and free again when a killed one's session passed."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import pytest

from infra.errors import MissingError
from infra.kafka import Broker, Cluster
from infra.kafka.topics import WantedTopic
from infra.nights.api import RunBusy
from infra.nights.ownership import SESSION_MS, Owner, owned, successes
from infra.settings import child_environment
from tests.fakes.night_runs import NIGHT

TOPIC = "nights-memory"
HOLDS = """
import asyncio, sys
from infra.nights.ownership import Owner, owned
async def hold():
    async with owned(Owner(sys.argv[1], "nights-memory", "killed", 1, {})):
        print("held", flush=True)
        await asyncio.sleep(600)
asyncio.run(hold())
"""


@pytest.fixture(scope="module")
def bootstrap(broker: Broker) -> str:
    with Cluster.at(broker.bootstrap) as cluster:
        cluster.apply([WantedTopic(TOPIC, 2, 1, {})])
    return broker.bootstrap


async def test_the_last_success_is_kept_with_the_group_and_each_generation_has_its_own(bootstrap: str) -> None:
    for tenant, generation in (("acme.g2", 1), ("acme", 2)):
        async with owned(Owner(bootstrap, TOPIC, tenant, generation, {0: 7, 1: 0})) as owner:
            await owner.succeeded(NIGHT)
    assert (await successes(bootstrap))["acme.g2"] == NIGHT
    assert "acme" not in await successes(bootstrap)
    assert await successes(bootstrap, 2) == {"acme": NIGHT}


async def test_two_that_come_at_once_are_never_both_let_in(bootstrap: str) -> None:
    inside, most = 0, 0

    async def come() -> bool:
        nonlocal inside, most
        try:
            async with owned(Owner(bootstrap, TOPIC, "crowd", 1, {})):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0.5)
                inside -= 1
        except RunBusy:
            return False
        return True

    for _ in range(3):
        await asyncio.gather(*(come() for _ in range(3)))
    assert most <= 1
    assert await come()


async def test_an_owner_who_is_not_alone_any_more_is_told(bootstrap: str) -> None:
    other = Owner(bootstrap, TOPIC, "lost", 1, {})
    async with owned(Owner(bootstrap, TOPIC, "lost", 1, {})) as owner:
        await owner.must_hold()
        await other.join()  # as one does whose session the broker let pass while it was frozen
        try:
            with pytest.raises(RunBusy):
                await for_ever(owner.must_hold)
        finally:
            await other.leave()


async def for_ever(look: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(60):
        while True:
            await look()
            await asyncio.sleep(0.1)


async def test_a_killed_owners_tenant_is_free_when_its_session_has_passed(bootstrap: str) -> None:
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDS, bootstrap), env=child_environment({}), stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    owner = Owner(bootstrap, TOPIC, "killed", 1, {})
    assert [f"-{holder.pid}." in other for other in await owner.others()] == [True]
    holder.kill()
    await holder.wait()
    began = time.monotonic()
    while await owner.others():
        assert time.monotonic() - began < 3 * SESSION_MS / 1000
        await asyncio.sleep(0.2)
    async with owned(owner):
        await owner.must_hold()


async def test_without_a_broker_it_says_so() -> None:
    with pytest.raises(MissingError, match="no Kafka answers"):
        await successes("127.0.0.1:1")
