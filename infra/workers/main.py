"""What ``anabranch worker`` runs: a supervisor, and its children."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from infra.errors import UsageError
from infra.settings import Settings
from infra.workers import leash, loop
from infra.workers.ends import code_of
from infra.workers.logs import to_stderr
from infra.workers.plane import plane
from infra.workers.run import Place, running, until_told
from infra.workers.supervisor import Supervisor
from stages.contract import Unavailable
from streams.stopped import Stopped

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Child:
    """What a supervisor says to a worker: its number, the port of its pages (0: a free one), its restarts by cause.

    It holds the worker's standard input, and hears on its standard output when it works.
    """

    number: int = 0
    port: int = 0
    restarts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Child:
        """Read what ``told`` wrote."""
        return cls(**json.loads(text))

    def told(self) -> str:
        """Return it as one argument of a command line."""
        return json.dumps(asdict(self))


def place(settings: Settings, child: Child) -> Place:
    """Return where a worker of these settings runs.

    Raises:
        UsageError: if they name no broker.
    """
    if settings.kafka is None:
        msg = "workers run on Kafka: name its servers in ANABRANCH_KAFKA, or start one with `anabranch kafka up`"
        raise UsageError(msg)
    folder = settings.home / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    crashes = folder / "crashes.sqlite"
    return Place(settings.kafka, folder, crashes, child.number, port=child.port, restarts=child.restarts)


async def run(settings: Settings, stage: str, child: Child) -> None:
    """Run a stage until SIGTERM, Ctrl-C or a fault."""
    where = place(settings, child)
    async with plane(settings) as ports:
        node = next(node for node in ports.stages if node.name == stage)
        async with running(node, ports, where) as it:
            sys.stdout.write(json.dumps({"port": it.port}) + "\n")
            sys.stdout.flush()
            await until_told(it)


def work(settings: Settings, stage: str, child: Child) -> int:
    """Run a supervisor's child in this process, and return its exit code; whatever ends it is told in its log."""
    to_stderr(stage, child.number)
    leash.hold(sys.stdin.fileno())
    try:
        loop.run(run(settings, stage, child))
    except Exception as error:  # noqa: BLE001 - the end of the process: all that is left is to say why
        foreseen = isinstance(error, Stopped | Unavailable) or code_of(error) != code_of(RuntimeError())
        told = {"event": "ended", "fault": type(error).__name__}
        _log.error("%s ends: %s", stage, error, exc_info=None if foreseen else error, extra=told)
        return code_of(error)
    return 0


def supervise(settings: Settings, stage: str, workers: int, port: int | None) -> int:
    """Run ``workers`` children of a stage until SIGTERM or Ctrl-C, and return the exit code.

    ``port`` is that of the first one's pages, the others follow it; ``None``: free ones.

    Raises:
        UsageError: if the settings name no broker.
    """
    place(settings, Child())
    to_stderr(stage)

    def command(number: int, restarts: Mapping[str, int]) -> list[str]:
        child = Child(number, 0 if port is None else port + number, dict(restarts))
        return [sys.executable, "-m", "infra.cli", "worker", stage, "--child", child.told()]

    return asyncio.run(Supervisor(stage, workers, command).run())
