"""Brokers for the tests, each in a folder of its own. A Kafka that cannot start is a failure, never a skip."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import forkserver

import pytest

from infra.bench.kafka import starting
from infra.bench.kafka.plant import Plant, plant
from infra.bench.kafka.warm import served
from infra.kafka import Broker
from infra.settings import Settings
from tests.fakes import forked
from tests.fakes.lone import shared
from tests.fakes.qdrant_server import MISSING, binary


@dataclass(frozen=True, slots=True)
class Named:
    """A cluster that ANABRANCH_KAFKA_TEST names."""

    bootstrap: str


@pytest.fixture(scope="session", autouse=True)
def forked_workers() -> Iterator[None]:
    """Let plants fork their workers; started as ``bench kafka`` does, each takes three seconds of a core first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "start", forked.worker)
        forkserver.ensure_running()  # it imports while a broker starts
        yield


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker | Named]:
    """Give the cluster that all files share: use topics of your own there, and leave it running."""
    if servers := os.environ.get("ANABRANCH_KAFKA_TEST"):
        yield Named(servers)
        return
    with shared(tmp_path_factory.mktemp("kafka"), request.getfixturevalue("libs")) as one:
        yield one


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """Give a broker, a Qdrant server and a worker of each stage, of a module's own."""
    server = binary()
    if server is None:
        pytest.skip(MISSING)
    with plant(tmp_path_factory.mktemp("plant"), qdrant=server, workers={}, partitions=2) as it:
        asyncio.run(served(it))
        yield it


@pytest.fixture(scope="module")
def settings(installation: Plant) -> Settings:
    """Give the settings of that installation."""
    assert installation.qdrant is not None
    return Settings.model_construct(
        home=installation.folder / "home",
        embedder="hash",
        kafka=installation.broker.bootstrap,
        qdrant_url=installation.qdrant.address.url,
        qdrant_grpc_port=installation.qdrant.address.grpc_port,
    )
