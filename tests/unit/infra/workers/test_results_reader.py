"""What reads the answers of models for several lanes, when one of them lets it go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import ConsumerStoppedError

from infra.remote import follower
from infra.workers.results import _Waiting
from stages.contract import Unavailable

PART = TopicPartition("model.results", 0)


class Consumer:
    """Ends partitions at 1, until it is stopped; a reader is let through by ``gate``."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.is_stopped = False

    async def start(self) -> None: ...

    async def stop(self) -> None:
        self.is_stopped = True

    async def end_offsets(self, parts: list[TopicPartition]) -> dict[TopicPartition, int]:
        await self.gate.wait()
        if self.is_stopped:
            raise ConsumerStoppedError
        return dict.fromkeys(parts, 1)


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> Consumer:
    made = Consumer()
    monkeypatch.setattr(follower, "consumer", lambda _bootstrap: made)
    return made


async def test_who_waits_for_a_reader_that_is_let_go_asks_again(consumer: Consumer) -> None:
    reader = _Waiting("nowhere")
    first, closing, second = (
        asyncio.ensure_future(work) for work in (reader.ends([PART]), reader.close(), reader.ends([PART]))
    )
    await asyncio.sleep(0)
    consumer.gate.set()
    ended: list[Any] = await asyncio.gather(first, closing, second, return_exceptions=True)
    assert ended[:2] == [{PART: 1}, None]  # it is closed when nobody reads
    assert isinstance(ended[2], Unavailable)
    with pytest.raises(Unavailable, match="let go"):
        await reader.catch_up([PART])


async def test_a_consumer_that_stopped_is_waited_for(consumer: Consumer) -> None:
    consumer.gate.set()
    consumer.is_stopped = True
    with pytest.raises(Unavailable, match="let go"):
        await _Waiting("nowhere").ends([PART])
