"""Events into the log of a cluster: acknowledged by all copies, each space in its order, each event once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from infra.errors import MissingError, UsageError
from infra.producers import begun
from infra.remote.layout import Layout
from schemas.space import Space
from stages.contract import Unavailable
from streams.codec import peek
from streams.kafka.wire import OWN

_LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a request: above the largest event, whose own limit the topic keeps."""

_TOO_LARGE: Final = (MessageSizeTooLargeError, RecordListTooLargeError)


@dataclass
class Publisher:
    """Publishes to one log. The producer is idempotent, so that what it sends again after a fault is there once."""

    layout: Layout
    _producer: AIOKafkaProducer | None = None

    async def close(self) -> None:
        """Let go of the connection."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def publish(self, space: Space, payloads: Sequence[bytes], taken: list[int], *, own: bool = False) -> None:
        """Append events, and their offsets to ``taken``; return when all are acknowledged.

        Raises:
            MissingError: if no broker answers.
            Unavailable: if it does not acknowledge; ``taken`` says which it has for certain.
            UsageError: if the topic does not take an event as large as one of these; it names the first such one.
        """
        producer, topic = await self._connected(), self.layout.log
        headers = [(OWN, b"1")] if own else None
        partition, sent = self.layout.partition(topic, space), list[asyncio.Future[Any]]()
        try:
            for payload in payloads:
                sent.append(
                    await producer.send(topic, payload, key=space.encode(), partition=partition, headers=headers)
                )
            for each in sent:
                await each
        except _TOO_LARGE as error:
            await self.close()  # it has numbered what was refused, and whatever it sends there next would be too
            raise UsageError(_refusal(space, payloads, sent, topic)) from error
        except KafkaError as error:
            msg = f"Kafka at {self.layout.bootstrap} did not acknowledge events of {space}: {error!r}"
            raise Unavailable(msg) from error
        finally:
            ended = await asyncio.gather(*sent, return_exceptions=True)
            taken += [record.offset for record in ended if not isinstance(record, BaseException)]

    async def _connected(self) -> AIOKafkaProducer:
        if self._producer is None:
            try:
                self._producer = await begun(self.layout.bootstrap, "anabranch-publisher", _LARGEST)
            except Unavailable as error:
                raise MissingError(str(error)) from error
        return self._producer


def _refusal(space: Space, payloads: Sequence[bytes], sent: Sequence[asyncio.Future[Any]], topic: str) -> str:
    """Say which event was too large: the first that the broker refused, or the one that never went to it."""
    refused = [number for number, one in enumerate(sent) if one.done() and isinstance(one.exception(), _TOO_LARGE)]
    payload = payloads[refused[0] if refused else len(sent)]
    return (
        f"the event {peek(payload).event_id!r} of {space} has {len(payload)} bytes, more than the topic {topic} takes: "
        "publish it as several turns, and nothing that stood behind it is published yet"
    )
