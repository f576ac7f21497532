"""Fault 31: streams grow without bound, and nobody sees how large they are or how far behind their readers."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest

from infra.cli.kafka_checks import kafka
from infra.kafka import Broker, Cluster, WantedTopic, wanted
from streams.kafka.names import topic_name
from streams.topology import FIRST
from tests.kafka.stage_on_kafka import PARTITIONS, Stage, stage_of
from tests.kafka.waiting import until

KEPT_FOR_EVER = {"turns", "model.results"}
"""The truth, and the answers of models that cannot be asked twice: all else can be made again from them."""

TOPICS = {topic.name: topic for topic in wanted(replication=3)}
FILLED = 300_000


@pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS.keys())
def test_fault_31_every_stream_is_kept_by_a_policy_of_its_own(topic: WantedTopic) -> None:
    """None goes by what a cluster has for topics that say nothing."""
    settings = topic.settings
    if settings["cleanup.policy"] == "compact":
        assert 0 < int(settings["segment.ms"]) <= int(settings["max.compaction.lag.ms"]) < 10**9
        assert 0 < int(settings["delete.retention.ms"]) < 10**9
    else:
        assert (settings["retention.ms"] == "-1") is (topic.name in KEPT_FOR_EVER)
        assert settings["retention.bytes"] == "-1", "nothing goes for its size before its time"


@pytest.fixture
def stage(lone: Broker, tmp_path: Path) -> Stage:
    return stage_of(lone.bootstrap, tmp_path, "commit")


async def test_fault_31_size_and_lag_of_streams_are_figures(stage: Stage) -> None:
    edge = topic_name(FIRST.target.name, stage.generation)
    async with stage.producer() as producer:
        for _ in range(FILLED // 30_000):
            await producer.send_and_wait(edge, bytes(30_000), key=b"acme/u-1", partition=1)
    with Cluster.at(stage.bootstrap) as cluster:
        sizes = cluster.sizes([edge, "no such topic"])
    assert sizes.keys() == {edge}
    assert FILLED < sizes[edge] < 2 * FILLED
    async with stage.works() as run:
        figures = await until(partial(_figures, run.port, edge))
        assert figures[edge] == sizes[edge]
        assert figures.keys() == {topic.name for topic in wanted(replication=1, generation=stage.generation)}
        assert await until(partial(_lags, run.port)) == ["0.0"] * PARTITIONS


async def _lags(port: int) -> list[str]:
    """Return the lag of each partition, once it is known of all."""
    found = re.findall(r"^anabranch_lag_events\{.*\} (\S+)$", await asyncio.to_thread(_page, port), re.MULTILINE)
    return found if len(found) == PARTITIONS else []


def _page(port: int) -> str:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


async def _figures(port: int, topic: str) -> dict[str, float]:
    page = await asyncio.to_thread(_page, port)
    found = re.findall(r'^anabranch_topic_bytes\{.*topic="([^"]+)".*\} (\S+)$', page, re.MULTILINE)
    sizes = {name: float(size) for name, size in found}
    return sizes if topic in sizes else {}


def test_fault_31_doctor_says_which_streams_are_the_largest(stage: Stage) -> None:
    (topics,) = [check for check in kafka(stage.bootstrap, stage.generation) if check.name == "topics"]
    assert re.search(r"are as wanted; \d+\.\d MB: \S+ \d+\.\d MB", topics.found)
