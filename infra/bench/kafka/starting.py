"""How a plant starts its workers: each a process that runs a module, and ends when nobody holds its leash."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

_ROOT: Final = Path(__file__).parents[3]
_STOP_S: Final = 30.0


class Process(Protocol):
    """A process that was started, as ``subprocess`` has it."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def poll(self) -> int | None:
        """Return its exit code, or ``None`` while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code when it has ended.

        Raises:
            subprocess.TimeoutExpired: if it has not within ``timeout`` seconds.
        """
        ...

    def send_signal(self, sig: int) -> None:
        """Send it a signal, unless it has ended."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it as a crash does."""
        ...


def start(module: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
    """Run a module with its arguments in this environment alone; what it prints is added to ``log``."""
    with log.open("ab") as file:
        return subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", *module],
            env=dict(environment),
            stdin=subprocess.PIPE,  # its leash
            stdout=file,
            stderr=file,
            cwd=_ROOT,
        )


def end(processes: Collection[Process]) -> None:
    """Ask processes to end, frozen ones too; one that does not within 30 s is killed."""
    for process in processes:
        process.send_signal(signal.SIGCONT)
        process.terminate()
    for process in processes:
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
