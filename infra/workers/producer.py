"""The engine's own producer on a cluster, with the topics that it writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from aiokafka.errors import KafkaError

from infra.errors import MissingError
from infra.producers import begun
from stages.contract import Unavailable
from streams.kafka.producing import Producing

_LARGEST: Final = 80 * 1024 * 1024
"""Bytes of a request: above the largest record of any topic, whose own limits the broker keeps."""


@asynccontextmanager
async def producing(bootstrap: str, client: str, topics: Iterable[str]) -> AsyncIterator[Producing]:
    """Give the engine's own producer, known to the cluster as ``client``.

    Raises:
        MissingError: if the broker does not answer, or a topic is not there; it says which and what to do.
    """
    partitions: dict[str, int] = {}
    sending = Producing(partial(begun, bootstrap, client, _LARGEST), partitions)
    try:
        for topic in topics:
            partitions[topic] = await _partitions(sending, topic)
        yield sending
    finally:
        await sending.close()


async def _partitions(sending: Producing, topic: str) -> int:
    try:
        return await sending.count(topic)
    except Unavailable as error:
        raise MissingError(str(error)) from error
    except KafkaError as error:
        msg = f"the topic {topic} is not there ({error!r}): run `anabranch topics apply`"
        raise MissingError(msg) from error
