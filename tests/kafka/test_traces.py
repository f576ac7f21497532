"""Turns that their publisher traces, through workers on a real broker and a real index, as a collector sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from infra.bench.kafka.plant import Plant, plant
from infra.telemetry import INDEX_WRITE
from streams.kafka.log import Log
from streams.kafka.wire import TRACE, partition_of
from streams.topology import FLOW, LAST, TURNS
from tests.fakes.qdrant_server import MISSING, binary
from tests.fakes.real_home import said
from tests.fakes.traces import Collector, collector, traceparent
from tests.kafka.stage_on_kafka import PARTITIONS
from tests.kafka.waiting import until

SPACE = "acme/traced"
STAGES = [f"anabranch.{step.name}" for step in FLOW]


async def publish(bootstrap: str, bodies: Mapping[bytes, int | None]) -> None:
    """Publish turns, each with the number of its trace, if it has one."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True)
    await producer.start()
    try:
        at = {"key": SPACE.encode(), "partition": partition_of(SPACE, 24)}
        for body, number in bodies.items():
            headers = [] if number is None else [(TRACE, traceparent(number))]
            await producer.send_and_wait(TURNS.name, body, headers=headers, **at)
    finally:
        await producer.stop()


async def has(one: Collector, count: int, it: Plant) -> bool:
    it.revive()  # a worker that found the server not ready yet has ended
    return len(one.spans) >= count


async def test_a_trace_shows_every_stage_and_when_the_turn_became_recallable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = binary()
    if server is None:
        pytest.skip(MISSING)
    with collector() as one:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", one.address)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        with plant(tmp_path, qdrant=server, workers={}, partitions=PARTITIONS) as it:
            turns = {said("a", "I moved to Oslo.", SPACE): 0xA, said("b", "Good for you!", SPACE): None}
            turns |= {said("c", " ", SPACE): 0xC, said("d", "The flat is bright.", SPACE): 0xD}
            await publish(it.broker.bootstrap, turns)
            await until(partial(has, one, 6 + 5 + 6, it), 150)
            await asyncio.to_thread(it.close)  # whatever else they have to say is said now
            log = Log(it.broker.bootstrap)
            passed = [record.headers.get(TRACE) async for record in log.snapshot(LAST.source.name, PARTITIONS)]
    assert passed == [traceparent(0xA), None, traceparent(0xC), traceparent(0xD)], "the publisher's, byte for byte"
    outcomes = {0xA: "emitted", 0xC: "lettered", 0xD: "emitted"}
    told = sorted((span.trace, span.name, str(span.about.get("anabranch.outcome", "written"))) for span in one.spans)
    stages = [(trace, name, outcome) for trace, outcome in outcomes.items() for name in STAGES]
    assert told == sorted([*stages, (0xA, INDEX_WRITE, "written"), (0xD, INDEX_WRITE, "written")])
    assert all(span.parent == span.trace for span in one.spans if span.name in STAGES), "none is another stage's child"
