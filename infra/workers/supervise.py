"""What ``anabranch worker`` runs: a supervisor, which itself loads neither models nor clients."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from infra.settings import Settings
from infra.workers.child import Child, folder_of, must_be_installed, servers_of
from infra.workers.logs import to_stderr
from infra.workers.supervisor import Supervisor


def supervise(settings: Settings, stage: str, workers: int, port: int | None) -> int:
    """Run ``workers`` children of a stage until SIGTERM or Ctrl-C, and return the exit code.

    ``port`` is that of the first one's pages, the others follow it; ``None``: free ones.

    Raises:
        UsageError: if the settings name no broker.
        MissingError: if no worker could start: its folder cannot be made, or a client is not installed.
    """
    servers_of(settings)
    must_be_installed()
    folder_of(settings)
    to_stderr(stage)

    def command(number: int, restarts: Mapping[str, int]) -> list[str]:
        child = Child(number, 0 if port is None else port + number, dict(restarts))
        return [sys.executable, "-m", "infra.cli", "worker", stage, "--child", child.told()]

    return asyncio.run(Supervisor(stage, workers, command).run())
