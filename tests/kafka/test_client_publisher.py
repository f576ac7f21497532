"""The client's own publisher on a real cluster: its records are those of anabranch's, byte for byte."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from anabranch_client import (
    Accepted,
    Attachment,
    Speaker,
    TooMuch,
    Turn,
    Unavailable,
    Unexpected,
    Unreachable,
    WrongUse,
)
from anabranch_client.kafka import KafkaPublisher
from infra.gateway.bodies import PublishedTurn
from infra.gateway.reading import encoded
from infra.kafka import Broker, Cluster
from infra.kafka.topics import WantedTopic
from infra.remote.layout import Layout
from infra.remote.publisher import Publisher
from schemas.space import Space
from schemas.turn import Attachment as AttachmentOfTheLog
from schemas.turn import Role
from schemas.turn import Speaker as SpeakerOfTheLog
from streams.topology import TURNS
from tests.unit.infra.client.said import AT, MIA, said

PARTITIONS = 24
LOG, SMALL, OTHER = "client-turns", "client-small", "client-other"
SPACES = [f"acme/client-{number}" for number in range(12)]


class OwnLog(Layout):
    """A log of this file's own, on a cluster that others use too."""

    log = LOG


@pytest.fixture(scope="module")
def bootstrap(broker: Broker) -> str:
    topics = [WantedTopic(name, PARTITIONS, 1, {}) for name in (LOG, OTHER)]
    topics += [WantedTopic(SMALL, 1, 1, {"max.message.bytes": "2000"})]
    with Cluster.at(broker.bootstrap) as cluster:
        cluster.apply(topics)
    return broker.bootstrap


async def records(bootstrap: str, topic: str, space: str | None = None) -> list[Any]:
    """Return a topic's records, of one space or of all, by partition and offset."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    try:
        partitions = [TopicPartition(topic, number) for number in sorted(await consumer_partitions(consumer, topic))]
        consumer.assign(partitions)
        found, ends = [], await consumer.end_offsets(partitions)
        for partition in partitions:
            while await consumer.position(partition) < ends[partition]:
                found.append(await consumer.getone(partition))
        return [record for record in found if space is None or record.key == space.encode()]
    finally:
        await consumer.stop()


async def consumer_partitions(consumer: AIOKafkaConsumer, topic: str) -> set[int]:
    return {int(number) for number in await consumer._client._wait_on_metadata(topic)}


def told(record: Any) -> tuple[int, bytes, bytes, Any]:
    return record.partition, record.key, record.value, record.headers


def turns(space: str) -> tuple[Turn, bytes]:
    """Return a turn, and what the gateway puts into the log of it."""
    turn = Turn(
        Speaker("u-1", "Mia"), "größer 🦔 \ud800", AT, "c1:17", "c1:16", "c1", (Attachment("beam", "x"),), revision=2
    )
    published = PublishedTurn(
        space=Space(space),
        turn_id="c1:17",
        speaker=SpeakerOfTheLog(id="u-1", name="Mia", role=Role.USER),
        text="größer 🦔 ",
        at=AT,
        reply_to="c1:16",
        session="c1",
        attachments=(AttachmentOfTheLog(caption="beam", url="x"),),
        revision=2,
    )
    return turn, encoded(published)


async def test_records_are_those_of_the_projects_own_publisher(bootstrap: str) -> None:
    """The same key, value, headers and partition; the two differ in their offsets alone."""
    own = Publisher(OwnLog(bootstrap, {LOG: PARTITIONS}))
    async with KafkaPublisher(bootstrap, LOG) as publisher:
        for space in SPACES:
            turn, payload = turns(space)
            assert await publisher.publish(space, turn) == Accepted(("c1:17",), "c1:17@2")
            await own.publish(Space(space), [payload], [])
    await own.close()
    seen = set()
    for space in SPACES:
        client, project = await records(bootstrap, LOG, space)
        assert told(client) == told(project)
        seen.add(client.partition)
    assert len(seen) > 4
    assert KafkaPublisher(bootstrap).topic == TURNS.name


async def test_many_are_acknowledged_in_their_order(bootstrap: str) -> None:
    async with KafkaPublisher(bootstrap, OTHER, linger_ms=1) as publisher:
        ids = [[f"{space}-{number}" for number in range(60)] for space in SPACES]
        given = zip(SPACES, ids, strict=True)
        accepted = await asyncio.gather(*(publisher.publish_many(space, map(said, some)) for space, some in given))
        assert [one.turn_ids for one in accepted] == [tuple(some) for some in ids]
        with pytest.raises(WrongUse, match="no turns"):
            await publisher.publish_many(SPACES[0], [])
    found = await records(bootstrap, OTHER)
    for space, some in zip(SPACES, ids, strict=True):
        mine = [record.value for record in found if record.key == space.encode()]
        assert [value.split(b'"turn_id":"')[1].split(b'"')[0].decode() for value in mine] == some


async def test_a_turn_that_the_topic_does_not_take_is_named_and_the_next_ones_go_on(bootstrap: str) -> None:
    async with KafkaPublisher(bootstrap, SMALL) as publisher:
        large = Turn(MIA, "x" * 5000, AT, "large")
        with pytest.raises(
            TooMuch, match=r"turn large has 5[0-9]{3} bytes, more than the topic client-small takes"
        ) as one:
            await publisher.publish_many("acme/small", [said("t1"), large, said("t2")])
        again = [turn for turn in (said("t1"), said("t2")) if turn.turn_id not in one.value.accepted]
        await publisher.publish_many("acme/small", again or [said("t3")])
        taken = {record.value.split(b'"turn_id":"')[1].split(b'"')[0] for record in await records(bootstrap, SMALL)}
        assert b"large" not in taken
        assert {b"t1", b"t2"} <= taken
        assert {name.encode() for name in one.value.accepted} <= taken
        with pytest.raises(TooMuch):  # above what any request takes: it never leaves
            await publisher.publish("acme/small", Turn(MIA, "x" * 17_000_000, AT, "larger"))
        await publisher.publish("acme/small", said("t4"))


async def test_a_cluster_that_is_away_or_has_no_log_is_told(bootstrap: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"127.0.0.1:{free.getsockname()[1]}"
    async with KafkaPublisher(nobody) as publisher:
        with pytest.raises(Unreachable, match=rf"publish to acme/mia .turns t1.: no Kafka answers at {nobody}") as away:
            await publisher.publish("acme/mia", said("t1"))
        assert isinstance(away.value, Unavailable)
        assert not away.value.is_maybe_taken
    async with KafkaPublisher(bootstrap, "client-none", request_timeout_ms=500) as publisher:
        with pytest.raises(Unexpected, match=r"has no topic client-none .`anabranch topics apply`"):
            await publisher.publish("acme/mia", said("t1"))
