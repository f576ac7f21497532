"""A Qdrant server of one's own on this machine, started from its binary: for tests, load and chaos."""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from infra.errors import MissingError

_START_S: Final = 30.0
_STOP_S: Final = 20.0
_LOOK_S: Final = 0.02

_now = time.monotonic  # noqa: TID251 - how long to wait for a process is no event's time


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
class QdrantProcess:
    """A server process on free ports of 127.0.0.1, with its data in ``folder``; it can be killed and started again."""

    binary: Path
    folder: Path
    address: Address = field(default_factory=_free)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it on the ports and the data that it had, and wait until it is ready."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - named by its user
                [self.binary.absolute()], cwd=self.folder, env=self._settings(), stdout=log, stderr=log
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
        if self._process is None:
            msg = f"the Qdrant server at {self.address.url} does not run: start it first"
            raise MissingError(msg)
        return self._process

    def _settings(self) -> dict[str, str]:
        port = self.address.url.rpartition(":")[2]
        return {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": port,
            "QDRANT__SERVICE__GRPC_PORT": str(self.address.grpc_port),
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }


def _wait_until_ready(process: subprocess.Popen[bytes], address: Address, log: Path) -> None:
    end = _now() + _START_S
    while _now() < end:
        if process.poll() is not None:
            break
        if _is_ready(address):
            return
        time.sleep(_LOOK_S)
    process.kill()
    msg = f"the server at {address.url} is not ready after {_START_S:.0f} s:\n{log.read_text()[-2000:]}"
    raise MissingError(msg)


def _is_ready(address: Address) -> bool:
    connection = HTTPConnection(address.url.removeprefix("http://"), timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
