"""Looks at a worker every second: its pages say what was seen, and it ends where it gets nowhere for too long."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from infra.workers.ends import NoProgress
from infra.workers.figures import Figures
from infra.workers.health import Health
from infra.workers.sight import Sight, sight
from streams.kafka.worker import Worker

_LOOK_S: Final = 1.0
_RATE: Final = 10
"""Looks over which a rate is taken."""

_log = logging.getLogger(__name__)
_now = time.time  # noqa: TID251 - the age of an event that waits is told by the time of day


@dataclass
class Pulse:
    """Implements ``Pages``. ``crashed`` gives what ended Faust's services, if something did; ``sizes`` are topics'."""

    worker: Worker
    number: int
    health: Health
    restarts: Mapping[str, int]
    crashed: Callable[[], BaseException | None] = lambda: None
    sizes: Mapping[str, int] = field(default_factory=dict)
    _handled: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_RATE + 1))
    _told: str | None = None

    async def beat(self) -> None:
        """Look for ever; what ends the worker is given to its ``fail``."""
        loop = asyncio.get_running_loop()
        while True:
            self._look(loop.time())
            await asyncio.sleep(_LOOK_S)

    def _look(self, now: float) -> None:
        seen = self.look()
        self._handled.append((now, seen.handled))
        self.health.look(seen, now)
        if self.health.reason is not None and self._told is None:
            _log.error("%s is unwell: %s", self.stage, self.health.reason, extra={"event": "unwell"})
        self._told = self.health.reason
        fault = self.crashed()
        if fault is None and self.health.is_over:
            fault = NoProgress(f"{self.stage}: {self.health.reason}; the process ends and is started again")
        if fault is not None:
            self.worker.shared.fail(fault)

    @property
    def stage(self) -> str:
        """The stage's name."""
        return self.worker.shared.node.name

    def look(self) -> Sight:
        """Return what the worker looks like now."""
        return sight(self.worker, _now)

    def unwell(self) -> str | None:
        """Return why the worker gets nowhere, or ``None``."""
        return self.health.reason

    def unready(self) -> str | None:
        """Return why it does not work yet, or ``None``; a partition that stopped has been read."""
        partitions = self.worker.partitions.values()
        loading = [one.number for one in partitions if not one.ready and one.stopped is None]
        if not partitions:
            return "no partitions are assigned"
        return f"the states of partitions {loading} are being read" if loading else None

    def figures(self) -> bytes:
        """Return the figures for Prometheus."""
        metrics = self.worker.shared.metrics
        return Figures(self.stage, self.number, metrics, self.look, self.restarts, self.sizes).page()

    def status(self) -> dict[str, Any]:
        """Return everything for people."""
        who = {"stage": self.stage, "worker": self.number, "pid": os.getpid(), "unwell": self.health.reason}
        return who | self.look().told() | {"rates": self._rates(), "restarts": dict(self.restarts)}

    def _rates(self) -> dict[str, float]:
        (then, before), (now, handled) = (self._handled[0], self._handled[-1]) if self._handled else ((0, 0), (0, 0))
        return {"handled_per_s": round((handled - before) / (now - then), 1) if now > then else 0.0}
