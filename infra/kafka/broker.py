"""One Kafka node on this machine: broker and controller in one process, on the loopback interface only."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from infra.kafka import ready, storage
from infra.kafka.errors import BrokerFailedError
from infra.kafka.ports import HOST, Ports, choose, refuse_taken

_JAVA: Final = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError")
"""A heap for hundreds of partitions and records of 16 MB (as shipped 1 GB); without memory it ends, not limps.

It is small and collected by one thread until more is needed: what is used again lies in memory already.
"""

_START: Final = 90.0
"""Seconds to start: 3 alone, 7 on two busy cores, and a killed one with much data checks its logs first."""
_STOP: Final = 30.0
"""Seconds to stop by itself: under one is usual; then it is killed, which loses nothing that was acknowledged."""
_LOOK: Final = 0.05
_TAIL: Final = 20
"""Lines of the broker's log that an error shows."""

_now = time.monotonic  # noqa: TID251 - how long to wait for a process is no event's time


@dataclass(slots=True)
class Broker:
    """A node in ``folder`` run from the jars in ``libs``; made by ``at``, and stopped at the end of a ``with``.

    It is a process group of its own, so that Ctrl-C reaches the program that started it and not the broker.
    """

    folder: Path
    libs: Path
    ports: Ports
    quick: bool = False
    options: tuple[str, ...] = ()
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _said: int = field(default=0, init=False, repr=False)

    @classmethod
    def at(
        cls, folder: Path, libs: Path, port: int | None = None, *, quick: bool = False, options: tuple[str, ...] = ()
    ) -> Broker:
        """Prepare the folder if it is new, start a broker on its data, and return it when it answers.

        Ports are free ones, the same for the same folder where they can be; ``port`` asks for the clients' one.
        ``quick`` is for a broker that lives for a minute or less: it starts faster, and Java's second compiler, which
        takes more than all the work of 10,000 turns, leaves its code alone. ``options`` are further ones of Java.

        Raises:
            BrokerFailedError: if it cannot start, with the end of its log, or another program has ``port``.
            MissingError: if there is no Java, or the folder cannot be written.
        """
        folder = folder.absolute()
        broker = cls(folder, libs.absolute(), choose(folder, port), quick, options)
        broker.start()
        return broker

    @property
    def bootstrap(self) -> str:
        """What clients connect to: ``127.0.0.1:PORT``."""
        return f"{HOST}:{self.ports.broker}"

    @property
    def pid(self) -> int | None:
        """The process, or ``None`` while it is stopped."""
        return None if self._process is None else self._process.pid

    @property
    def log(self) -> Path:
        """Where the broker's warnings and errors go."""
        return self.folder / "broker.log"

    def start(self) -> None:
        """Start a broker that was stopped or killed, on the same data and ports, and wait until it answers.

        Raises:
            BrokerFailedError: if it cannot start, with the end of its log, or others have its folder or ports.
            MissingError: if there is no Java, or the folder cannot be written.
            RuntimeError: if it runs already.
        """
        if self._process is not None and self._process.poll() is None:
            msg = f"the broker in {self.folder} runs already (pid {self._process.pid})"
            raise RuntimeError(msg)
        try:
            with storage.claimed(self.folder) as lock:
                refuse_taken(self.ports)
                storage.prepare(self.folder, self.libs, self.ports)
                self._process = self._run(lock)
                storage.note_owner(lock, self._process.pid)
            self._await_answer(self._process)
        except BaseException:  # Ctrl-C too: nothing may be left running
            self.kill()
            raise

    def _run(self, lock: int) -> subprocess.Popen[bytes]:
        java = storage.command(self.libs, "kafka.Kafka", *_JAVA, *(storage.QUICK if self.quick else ()), *self.options)
        with self.log.open("ab") as log:
            self._said = log.tell()
            return subprocess.Popen(  # noqa: S603 - Java from the PATH
                [*java, storage.PROPERTIES],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
                pass_fds=(lock,),  # the claim ends with the broker, whatever becomes of this process
            )

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        cluster = storage.cluster_id(self.folder)
        steps: list[Callable[[], bool]] = [
            lambda: ready.speaks(self.ports.broker),
            lambda: ready.serves(self.ports.broker, cluster),
        ]
        deadline = _now() + _START
        while steps:
            if process.poll() is not None:
                self._fail(f"ended with exit code {process.returncode} before it answered")
            if steps[0]():
                del steps[0]
            elif _now() > deadline:
                self._fail(f"did not answer within {_START:.0f} s")
            else:
                time.sleep(_LOOK)

    def wait(self) -> None:
        """Wait until the broker ends, which it does not do by itself.

        Raises:
            BrokerFailedError: when it has ended, with the end of its log.
        """
        if self._process is not None:
            self._fail(f"ended with exit code {self._process.wait()}")

    def stop(self) -> None:
        """Ask the broker to stop and wait for it; one that does not within 30 s is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP)
        except subprocess.TimeoutExpired:
            _kill(process)
        except BaseException:  # a second Ctrl-C
            _kill(process)
            raise

    def kill(self) -> None:
        """Kill the broker as a crash would."""
        process, self._process = self._process, None
        if process is not None:
            _kill(process)

    def _fail(self, how: str) -> NoReturn:
        with self.log.open("rb") as log:
            log.seek(self._said)
            lines = log.read().decode("utf-8", "replace").splitlines()
        tail = "\n".join(lines[-_TAIL:]) or "it said nothing"
        msg = f"the Kafka broker in {self.folder} {how}; the end of {self.log}:\n{tail}"
        raise BrokerFailedError(msg)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
