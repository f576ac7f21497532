"""A model plane as a process of its own, whose replicas may be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from infra.bench.gateway_process import free_port
from infra.errors import MissingError
from infra.settings import child_environment

_ROOT: Final = Path(__file__).parents[2]
_START_S: Final = 180.0
"""Seconds for a start: Ray's own processes, then models load."""
_STOP_S: Final = 60.0
_LOOK_S: Final = 0.2
_PARENT: Final = 1
"""Where the parent stands in what ``/proc`` says behind a process's name."""

_now = time.monotonic  # noqa: TID251 - a process has a time to start


@dataclass
class ModelProcess:
    """``anabranch models serve`` with ``arguments``; its log is the file ``models.log`` in ``folder``.

    ``python`` is the interpreter that runs it, ``longest`` the seconds that its start may take.
    """

    folder: Path
    arguments: Sequence[str]
    port: int = field(default_factory=free_port)
    python: str = sys.executable
    longest: float = _START_S
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address up to ``/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        """Start it, and return when all models are loaded.

        Raises:
            MissingError: if it ends or does not answer; the message holds what it said last.
        """
        command = [self.python, "-m", "infra.cli", "models", "serve", "--port", str(self.port), *self.arguments]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - ourselves; it takes a millisecond
                command, env=child_environment({}), cwd=_ROOT, stdout=log, stderr=log
            )
        deadline = _now() + self.longest
        while b"Models answer" not in self._log.read_bytes():
            if self._process.poll() is not None or _now() > deadline:
                await self.stop()
                msg = f"the model plane did not start: {self._log.read_text()[-2000:]}"
                raise MissingError(msg)
            await asyncio.sleep(_LOOK_S)
        async with httpx.AsyncClient(timeout=_STOP_S) as client:  # the front is there when this has an answer
            await client.get(f"{self.url}/models")

    async def stop(self) -> int | None:
        """Stop it as a person would; return its exit code."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(self._process.wait, _STOP_S)
        return None if self._process is None else self._process.returncode

    def replicas(self, deployment: str) -> list[int]:
        """Return the processes of a deployment's replicas (from ``/proc``, so on Linux only)."""
        name = f"ray::ServeReplica:{deployment}:".encode()
        return [pid for pid in self.processes() if _command(pid).startswith(name)]

    def kill(self, deployment: str) -> int:
        """Kill one replica of a deployment, as a crash would; return its process id."""
        victim = self.replicas(deployment)[0]
        os.kill(victim, signal.SIGKILL)
        return victim

    def processes(self) -> list[int]:
        """Return all processes that the plane has started."""
        top = None if self._process is None else self._process.pid
        parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
        return [pid for pid in parents if top is not None and pid != top and _descends(pid, top, parents)]

    @property
    def _log(self) -> Path:
        return self.folder / "models.log"


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_PARENT])
    except (OSError, ValueError):
        return None


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _descends(pid: int, top: int, parents: dict[int, int]) -> bool:
    one: int | None = pid
    while one is not None and one != top:
        one = parents.get(one)
    return one == top
