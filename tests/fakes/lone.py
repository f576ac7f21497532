"""A broker that tests of all folders share: ``tests/conftest.py`` has its fixtures, so that there is one a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.kafka import Broker, bring, keep_loaded
from infra.settings import cache_folder


@pytest.fixture(scope="session")
def libs() -> Path:
    jars = bring(cache_folder())
    keep_loaded(jars)
    return jars


@pytest.fixture(scope="session")
def lone(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give a broker to stop, kill and fill; whoever stops it starts it again."""
    with Broker.at(tmp_path_factory.mktemp("lone"), libs, quick=True) as one:
        yield one
