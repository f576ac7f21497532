"""Turns straight into the log, for trusted services that reach Kafka. Needs the extra: ``anabranch-client[kafka]``.

Nothing stands between such a service and the log: no key is asked for, and a turn that is none becomes a letter there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Final, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    UnknownTopicOrPartitionError,
)
from aiokafka.partitioner import murmur2

from anabranch_client.answers import Accepted
from anabranch_client.errors import (
    About,
    AnabranchError,
    Problem,
    TooMuch,
    Unavailable,
    Unexpected,
    Unreachable,
    WrongUse,
    with_accepted,
)
from anabranch_client.parts import Encoded, encoded
from anabranch_client.turns import Turn, check_space

_LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a request: above the largest turn, whose own limit the topic keeps."""

_TOO_LARGE: Final = (MessageSizeTooLargeError, RecordListTooLargeError)
_POSITIVE: Final = 0x7FFFFFFF

Sent = asyncio.Future[Any]


class KafkaPublisher:
    """Publishes to the topic ``turns``, as the gateway does: the same key, partition and bytes.

    A space decides the partition (murmur2, as in Kafka's own clients). The producer is idempotent and every turn is
    acknowledged by all copies, so what it sends again after a fault is there once, and in order. ``options`` go to
    ``aiokafka.AIOKafkaProducer``: ``security_protocol``, ``ssl_context``, ``sasl_mechanism`` and the like.
    """

    def __init__(self, bootstrap: str, topic: str = "turns", **options: Any) -> None:  # noqa: ANN401 - aiokafka's own
        self._bootstrap = bootstrap
        self.topic = topic
        self._options = options
        self._producer: AIOKafkaProducer | None = None
        self._connecting = asyncio.Lock()

    async def publish(self, space: str, turn: Turn) -> Accepted:
        """Publish a turn; return once all copies of the log have it."""
        return await self.publish_many(space, [turn])

    async def publish_many(self, space: str, turns: Iterable[Turn]) -> Accepted:
        """Publish turns in their order; return once all copies of the log have all.

        Raises:
            TooMuch: if the topic takes no turn as large as one of these; ``accepted`` names those it has.
            Unavailable: if the brokers do not acknowledge.
            WrongUse: if the space can't be one, or there are no turns.
        """
        check_space(space)
        given = list(turns)
        if not given:
            msg = f"there are no turns to publish to {space}"
            raise WrongUse(msg)
        whole = [encoded(space, turn) for turn in given]
        await self._append(space, whole)
        return Accepted(tuple(one.turn_id for one in whole), given[-1].token)

    async def close(self) -> None:
        """Let go of the connection."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def __aenter__(self) -> Self:
        """Return the publisher; it connects when it is first used."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go of the connection."""
        await self.close()

    async def _append(self, space: str, turns: Sequence[Encoded]) -> None:
        about = About("publish to", space, tuple(one.turn_id for one in turns))
        producer = await self._connected(about)
        sent: list[Sent] = []
        try:
            partition = await self._partition(producer, space, about)
            for one in turns:
                record = producer.send(self.topic, one.payload, key=space.encode(), partition=partition)
                sent.append(await record)
            for each in sent:
                await each
        except KafkaError as error:
            raise await self._failed(space, turns, sent, error) from error

    async def _partition(self, producer: AIOKafkaProducer, space: str, about: About) -> int:
        try:
            partitions = await producer.partitions_for(self.topic)
        except UnknownTopicOrPartitionError as error:
            what = f"Kafka at {self._bootstrap} has no topic {self.topic} (`anabranch topics apply` makes it)"
            raise Unexpected(about, what) from error
        return int(murmur2(space.encode()) & _POSITIVE) % len(partitions)

    async def _failed(
        self, space: str, turns: Sequence[Encoded], sent: Sequence[Sent], error: KafkaError
    ) -> AnabranchError:
        """Return what to raise, once it is known of each turn whether the log has it."""
        ends = await asyncio.gather(*sent, return_exceptions=True)
        accepted = [one.turn_id for one, end in zip(turns, ends, strict=False) if not isinstance(end, BaseException)]
        left = [one for one in turns if one.turn_id not in accepted]
        about = About("publish to", space, tuple(one.turn_id for one in left))
        if isinstance(error, _TOO_LARGE):
            await self.close()  # it has numbered what was refused, and what it sends there next would be refused too
            largest = max(left, key=lambda one: len(one.payload))
            detail = f"turn {largest.turn_id} has {len(largest.payload)} bytes, more than the topic {self.topic} takes"
            return with_accepted(TooMuch(about, Problem(413, "too large", detail, {})), accepted)
        what = f"Kafka at {self._bootstrap} did not acknowledge ({error!r})"
        return with_accepted(Unavailable(about, what, is_maybe_taken=bool(sent)), accepted)

    async def _connected(self, about: About) -> AIOKafkaProducer:
        async with self._connecting:
            if self._producer is None:
                self._producer = await self._begun(about)
            return self._producer

    async def _begun(self, about: About) -> AIOKafkaProducer:
        ours = {"client_id": "anabranch-client", "max_request_size": _LARGEST, "max_batch_size": 256 * 1024}
        kept = {"bootstrap_servers": self._bootstrap, "enable_idempotence": True, "acks": "all"}
        producer = AIOKafkaProducer(**(ours | self._options | kept))
        try:
            await producer.start()
        except BaseException as error:
            await producer.stop()
            if isinstance(error, KafkaError):
                what = f"no Kafka answers at {self._bootstrap} ({error!r})"
                raise Unreachable(about, what, is_maybe_taken=False) from error
            raise
        return producer
