"""A real Qdrant server for tests: started here from a binary, or one that runs already and is named by a setting."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.fakes.folders import quick_folder

_START_S = 30.0
_STOP_S = 20.0
_LOOK_S = 0.02
_BESIDE = Path(__file__).parents[2].parent / "shared" / "bin" / "qdrant"

MISSING = (
    "no Qdrant server: what readers and writers of a server promise is not tested here. Name a binary with QDRANT_BIN, "
    "or a server that runs (its REST address; gRPC one port above) with ANABRANCH_QDRANT_URL_TEST"
)


@dataclass(frozen=True)
class Address:
    """Where a server listens on this machine or another."""

    url: str
    grpc_port: int


def _free() -> Address:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return Address(f"http://127.0.0.1:{one.getsockname()[1]}", other.getsockname()[1])


@dataclass
class QdrantServer:
    """A server process on free ports of 127.0.0.1, with its data in ``folder``; it can be killed and started again."""

    binary: Path
    folder: Path
    address: Address = field(default_factory=_free)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it on the ports and the data that it had, and wait until it is ready."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binary], cwd=self.folder, env=self._settings(), stdout=log, stderr=log
            )
        _wait_until_ready(self._process, self.address, self.folder / "log")

    def kill(self) -> None:
        """End it as a crash does: no chance to write anything."""
        process = self._must_run()
        process.kill()
        process.wait(_STOP_S)
        self._process = None

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(_STOP_S)
            self._process = None

    def signal(self, number: int) -> None:
        """Send it a signal, such as the one that freezes it."""
        self._must_run().send_signal(number)

    def _must_run(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the server does not run"
        return self._process

    def _settings(self) -> dict[str, str]:
        port = self.address.url.rpartition(":")[2]
        return os.environ | {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": port,
            "QDRANT__SERVICE__GRPC_PORT": str(self.address.grpc_port),
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }


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
def own_server() -> Iterator[QdrantServer | None]:
    """A server of the test's own, which it may kill; ``None`` where there is no binary."""
    path = binary()
    if path is None:
        yield None
        return
    with quick_folder() as folder:
        server = QdrantServer(path, folder)
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
def mortal() -> Iterator[QdrantServer]:
    """A server of the test's own."""
    with own_server() as server:
        if server is None:
            pytest.skip(MISSING)
        yield server


def _wait_until_ready(process: subprocess.Popen[bytes], address: Address, log: Path) -> None:
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        if _is_ready(address):
            return
        time.sleep(_LOOK_S)
    process.kill()
    msg = f"the server at {address.url} is not ready after {_START_S:.0f} s:\n{log.read_text()[-2000:]}"
    raise AssertionError(msg)


def _is_ready(address: Address) -> bool:
    connection = HTTPConnection(address.url.removeprefix("http://"), timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
