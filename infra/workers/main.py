"""What ``anabranch worker`` runs."""

from __future__ import annotations

from infra.errors import UsageError
from infra.settings import Settings
from infra.workers.plane import plane
from infra.workers.run import Place, running, until_told


def place(settings: Settings, number: int = 0) -> Place:
    """Return where a worker of these settings runs.

    Raises:
        UsageError: if they name no broker.
    """
    if settings.kafka is None:
        msg = "workers run on Kafka: name its servers in ANABRANCH_KAFKA, or start one with `anabranch kafka up`"
        raise UsageError(msg)
    folder = settings.home / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    return Place(settings.kafka, folder, folder / "crashes.sqlite", number)


async def run(settings: Settings, stage: str, number: int = 0) -> None:
    """Run a stage until SIGTERM, Ctrl-C or a fault."""
    where = place(settings, number)
    async with plane(settings) as ports:
        node = next(node for node in ports.stages if node.name == stage)
        async with running(node, ports, where) as it:
            await until_told(it)
