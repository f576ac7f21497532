"""How much room topics take, looked up now and then beside a worker's own work (fault 31)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final

from infra.errors import AnabranchError

EVERY_S: Final = 300.0
"""Seconds between two looks: what is kept of a topic that grows by gigabytes a day needs no more."""

_log = logging.getLogger(__name__)


@dataclass
class Sizes:
    """``found`` are the bytes of each topic of a generation that is there, of each partition one copy."""

    bootstrap: str
    generation: int
    found: dict[str, int] = field(default_factory=dict)

    async def look(self) -> None:
        """Look for ever; a broker that does not answer leaves what was known."""
        while True:
            try:
                self.found.update(await asyncio.to_thread(self._ask))
            except AnabranchError as error:
                _log.warning("the sizes of topics are not known: %s", error, extra={"event": "waits"})
            await asyncio.sleep(EVERY_S)

    def _ask(self) -> dict[str, int]:
        from infra.kafka import Cluster, wanted  # noqa: PLC0415 - other stages' workers load no such client

        topics = wanted(replication=1, generation=self.generation)
        with Cluster.at(self.bootstrap) as cluster:
            return cluster.sizes(topic.name for topic in topics)
