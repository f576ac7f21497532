"""A gateway as a process of its own, on one port for life: it may be killed and started again."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from infra.errors import MissingError
from infra.settings import Settings, as_environment, child_environment

_ROOT: Final = Path(__file__).parents[2]
_START_S: Final = 120.0
"""Seconds for a start: a model loads, and what was pending is found."""
_STOP_S: Final = 60.0

_now = time.monotonic  # noqa: TID251 - a process has a time to start


def free_port() -> int:
    """Return a port on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class GatewayProcess:
    """The process; its log is the file ``gateway.log`` in ``folder``."""

    settings: Settings
    folder: Path
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and return when it answers.

        Raises:
            MissingError: if it ends or does not answer; the message holds what it said last.
        """
        command = [sys.executable, "-m", "infra.cli", "serve", "--port", str(self.port)]
        with (self.folder / "gateway.log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - ourselves; it takes a millisecond
                command, env=child_environment(as_environment(self.settings)), cwd=_ROOT, stdout=log, stderr=log
            )
        deadline = _now() + _START_S
        async with httpx.AsyncClient(base_url=self.url) as client:
            while not await _answers(client):
                if self._process.poll() is not None or _now() > deadline:
                    said = (self.folder / "gateway.log").read_text(errors="replace")[-2000:]
                    msg = f"the gateway does not start: {said}"
                    raise MissingError(msg)
                await asyncio.sleep(0.05)

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and return its exit code; one that does not end in time is killed."""
        if self._process is None:
            return 0
        self._process.terminate()
        try:
            return self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return -9


async def _answers(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/healthz")).is_success
    except httpx.HTTPError:
        return False
