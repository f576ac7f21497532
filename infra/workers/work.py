"""One worker as a process: what a supervisor starts."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import replace

from infra.settings import Settings
from infra.workers import leash, loop
from infra.workers.child import Child, folder_of, servers_of
from infra.workers.ends import code_of
from infra.workers.logs import to_stderr
from infra.workers.real_plane import real_plane
from infra.workers.run import Place, running, until_told
from stages.contract import Unavailable
from streams.stopped import Stopped

_log = logging.getLogger(__name__)


def place(settings: Settings, child: Child) -> Place:
    """Return where a worker of these settings runs.

    Raises:
        UsageError: if they name no broker.
        HomeUnusable: if the folder of workers cannot be made.
    """
    servers, folder = servers_of(settings), folder_of(settings)
    crashes = folder / "crashes.sqlite"
    where = Place(servers, folder, crashes, child.number, port=child.port, host=settings.worker_host)
    return replace(where, generation=settings.generation, restarts=child.restarts)


async def run(settings: Settings, stage: str, child: Child) -> None:
    """Run a stage until SIGTERM, Ctrl-C or a fault."""
    where = place(settings, child)
    async with real_plane(settings) as ports:
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
