"""A broker that tests of all folders share: ``tests/conftest.py`` has its fixtures, so that there is one a session.

Unit tests need no broker and come last: while they run, those of the session rest. Four idle ones, two for each process
that tests, take a sixth of a core.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.kafka import Broker, bring, keep_loaded
from infra.settings import cache_folder

_UNIT = Path(__file__).parents[1] / "unit"

_shared: list[Broker] = []
_resting: list[Broker] = []


@contextmanager
def shared(folder: Path, libs: Path) -> Iterator[Broker]:
    """Give a broker for a session, which rests while unit tests run."""
    with Broker.at(folder, libs, quick=True) as one:
        _shared.append(one)
        yield one


def rest(test: Path) -> None:
    """Stop the brokers of the session before a unit test, and start them again before one that may need them."""
    if _UNIT in test.parents:
        _resting.extend(_shared)
        for one in _shared:
            one.stop()
        _shared.clear()
    else:
        for one in _resting:
            one.start()
        _shared.extend(_resting)
        _resting.clear()


@pytest.fixture(scope="session")
def libs() -> Path:
    jars = bring(cache_folder())
    keep_loaded(jars)
    return jars


@pytest.fixture(scope="session")
def lone(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give a broker to stop, kill and fill; whoever stops it starts it again."""
    with shared(tmp_path_factory.mktemp("lone"), libs) as one:
        yield one
