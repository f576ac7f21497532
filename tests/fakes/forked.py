"""Commands and workers as processes of their own, forked from one that has imported what they need.

Importing the encoder's libraries takes several times what a short run takes. A command that is killed at a random
moment would nearly always die of that; here it dies at its work. A worker's clients take three seconds of a core, and
the tests start some fifty of them.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read where its library is imported, which is in the server
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "infra.cli.app",
        "infra.embedded_plane",
        "infra.workers.work",
        "infra.bench.kafka.idle_worker",
        "sentence_transformers",
    ]
)


def started(arguments: Sequence[str], environment: Mapping[str, str], out: Path) -> BaseProcess:
    """Start ``anabranch ARGUMENTS`` with these variables too; its standard output goes to a file."""
    process = _SERVER.Process(target=_run, args=(list(arguments), dict(environment), out), daemon=True)
    process.start()
    return process


def _run(arguments: Sequence[str], environment: Mapping[str, str], out: Path) -> None:
    assert {"infra.embedded_plane", "sentence_transformers"} <= sys.modules.keys(), "the server imported nothing"
    from infra.cli.app import main  # noqa: PLC0415 - whoever starts a process need not load it

    os.environ.update(environment)
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.argv = ["anabranch", *arguments]
    main()


@dataclass(slots=True)
class Worker:
    """A worker that was forked, with the end of its leash that we hold; see ``infra.bench.kafka.starting``."""

    process: BaseProcess
    leash: Connection

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired(self.process.name, timeout or 0)
        return self.process.exitcode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()


def worker(module: Sequence[str], environment: Mapping[str, str], log: Path) -> Worker:
    """Run a module as ``infra.bench.kafka.starting.start`` does."""
    theirs, ours = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_work, args=(list(module), dict(environment), log, theirs), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _work(module: Sequence[str], environment: Mapping[str, str], log: Path, leash: Connection) -> None:
    assert "infra.workers.work" in sys.modules, "the server imported nothing"
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(leash.fileno(), 0)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdin = open(0)  # noqa: SIM115 - the leash is held as long as the process lives
    sys.argv = list(module)
    warnings.simplefilter("ignore")  # that the module was imported before it is run is what this is for
    runpy.run_module(module[0], run_name="__main__", alter_sys=True)
