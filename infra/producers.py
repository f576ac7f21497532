"""Producers as this project begins them: idempotent, and what is sent at once goes together."""

from __future__ import annotations

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from stages.contract import Unavailable


async def begun(bootstrap: str, client: str, largest: int) -> AIOKafkaProducer:
    """Return a producer that has begun, known to the cluster as ``client``; no request is over ``largest`` bytes.

    Raises:
        Unavailable: if no broker answers.
    """
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        client_id=client,
        enable_idempotence=True,
        linger_ms=0,  # it would hold each partition's records for themselves, and whoever sends awaits them
        max_request_size=largest,
        max_batch_size=256 * 1024,
    )
    try:
        await producer.start()
    except BaseException as error:
        await producer.stop()
        if not isinstance(error, KafkaError):
            raise
        msg = f"no Kafka answers at {bootstrap} ({error!r}); start one, or see ANABRANCH_KAFKA"
        raise Unavailable(msg) from error
    return producer
