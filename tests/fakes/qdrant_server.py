"""A real Qdrant server for tests: started here from a binary, or one that runs already and is named by a setting."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.qdrant.process import Address, QdrantProcess
from tests.fakes.folders import quick_folder

_BESIDE = Path(__file__).parents[2].parent / "shared" / "bin" / "qdrant"

MISSING = (
    "no Qdrant server: what readers and writers of a server promise is not tested here. Name a binary with QDRANT_BIN, "
    "or a server that runs (its REST address; gRPC one port above) with ANABRANCH_QDRANT_URL_TEST"
)


def binary() -> Path | None:
    """Return the server's binary, if this machine has one; a name that is wrong is not taken for a machine without."""
    if named := os.environ.get("QDRANT_BIN"):
        return Path(named).resolve(strict=True)
    return _BESIDE if _BESIDE.is_file() else None


def running() -> Address | None:
    """Return the server that runs already, if one is named."""
    url = os.environ.get("ANABRANCH_QDRANT_URL_TEST")
    if not url:
        return None
    return Address(url.rstrip("/"), int(url.rstrip("/").rpartition(":")[2]) + 1)


@contextmanager
def own_server() -> Iterator[QdrantProcess | None]:
    """A server of the test's own, which it may kill; ``None`` where there is no binary."""
    path = binary()
    if path is None:
        yield None
        return
    with quick_folder() as folder:
        server = QdrantProcess(path, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def address() -> Iterator[Address]:
    """A server for all tests that do not kill it."""
    if (named := running()) is not None:
        yield named
        return
    with own_server() as server:
        if server is None:
            pytest.skip(MISSING)
        yield server.address


@pytest.fixture
def mortal() -> Iterator[QdrantProcess]:
    """A server of the test's own."""
    with own_server() as server:
        if server is None:
            pytest.skip(MISSING)
        yield server
