"""Many senders of one producer beside records that the broker refuses: each of them ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import count

import pytest
from aiokafka import AIOKafkaProducer

from infra.kafka import Broker, Cluster
from infra.kafka.topics import WantedTopic
from streams.kafka.log import Log
from streams.kafka.producing import Producing, RefusedWrite
from streams.kafka.wire import Sent

TOPICS = [f"producing-{number}" for number in range(40)]
SMALL = "producing-small"
ENDS_S = 20.0


@pytest.fixture(scope="module")
def bootstrap(broker: Broker) -> str:
    plain = [WantedTopic(name, 1, 1, {}) for name in TOPICS]
    with Cluster.at(broker.bootstrap) as cluster:
        cluster.apply([*plain, WantedTopic(SMALL, 1, 1, {"max.message.bytes": "1000"})])
    return broker.bootstrap


def producing(bootstrap: str) -> Producing:
    async def begin() -> AIOKafkaProducer:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, linger_ms=0)
        await producer.start()
        return producer

    return Producing(begin, {})


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait until all tasks have ended; those that were cancelled may have."""
    _, waiting = await asyncio.wait(tasks, timeout=ENDS_S)
    assert not waiting, f"{len(waiting)} senders wait for ever: {waiting}"
    for task in tasks:
        if not task.cancelled():
            task.result()


@pytest.mark.parametrize("seed", range(6))
async def test_every_sender_ends_whatever_is_refused_to_others(bootstrap: str, seed: int) -> None:
    rng, sending, sent = random.Random(seed), producing(bootstrap), count()
    acknowledged: list[tuple[str, bytes]] = []

    async def send() -> None:
        await asyncio.sleep(rng.random() * 0.05)
        for _ in range(4):
            if rng.random() < 0.1:
                with pytest.raises(RefusedWrite, match=f"2000 bytes for 'k' in {SMALL}"):
                    await sending.send([Sent(SMALL, 0, b"k", b"x" * 2000)])
            topic, value = rng.choice(TOPICS), b"%d %d" % (seed, next(sent))
            await sending.send([Sent(topic, 0, b"k", value)])
            acknowledged.append((topic, value))

    tasks = [asyncio.create_task(send()) for _ in range(40)]
    gone = rng.sample(tasks, 5)
    await asyncio.sleep(0.05)
    for task in gone:
        task.cancel()
    try:
        await _ended(tasks)
    finally:
        await asyncio.wait_for(sending.close(), ENDS_S)
    log = Log(bootstrap)
    there = {(topic, record.value) for topic in TOPICS async for record in log.read(topic, 0)}
    assert set(acknowledged) <= there
    assert len(acknowledged) >= 4 * 35
