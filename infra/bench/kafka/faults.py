"""Faults in an order that a seed decides: what a plant goes through while a load is on its way."""

from __future__ import annotations

import asyncio
import random  # noqa: TID251 - seeded: the same seed makes the same faults
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from infra.bench.kafka.plant import Plant
from streams.topology import FLOW

_FROZEN_S: Final = 16.0
"""Longer than a session (10 s): the group takes the worker's partitions away while it sleeps."""

_JOINING: Final = 90
"""Number from which workers that join for a while are counted."""

_LOOK_S: Final = 0.5


@dataclass(slots=True)
class Faults:
    """Puts faults into a plant. ``told`` hears of each; workers that end are started again, as a supervisor does."""

    plant: Plant
    seed: int
    told: Callable[[str], None]
    pause: tuple[float, float] = (1.0, 4.0)
    held: set[tuple[str, int]] = field(default_factory=set)
    _chance: random.Random = field(init=False)
    _joined: int = _JOINING

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 - no secret

    async def supervise(self) -> None:
        """Start again what has ended, until cancelled."""
        while True:
            for stage, number, code in self.plant.revive():
                self.told(f"{stage} {number} ended with {code} and is started again")
            await asyncio.sleep(_LOOK_S)

    async def go_through(self, names: list[str]) -> None:
        """Put in the faults of these names, in an order that the seed decides, with pauses between them."""
        order = list(names)
        self._chance.shuffle(order)
        kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "kill": self.kill,
            "join": self.join,
            "leave": self.leave,
            "freeze": self.freeze,
            "broker": self.broker,
            "index": self.index,
        }
        for name in order:
            await asyncio.sleep(self._chance.uniform(*self.pause))
            await kinds[name]()

    def _one(self) -> tuple[str, int]:
        return self._chance.choice(sorted(self.plant.workers))

    async def kill(self) -> None:
        """End a worker with ``kill -9``."""
        stage, number = self._one()
        self.told(f"kill -9 {stage} {number}")
        self.plant.kill(stage, number)
        self.plant.start(stage, number)

    async def join(self) -> None:
        """Let one more worker of a stage join."""
        stage = self._chance.choice(FLOW).name
        self._joined += 1
        self.told(f"join {stage} {self._joined}")
        self.plant.start(stage, self._joined)

    async def leave(self) -> None:
        """Let a worker leave by itself, the one that joined last if there is one."""
        joined = [key for key in sorted(self.plant.workers) if key[1] > _JOINING]
        stage, number = joined[-1] if joined else self._one()
        code = await asyncio.to_thread(self.plant.leave, stage, number)
        self.told(f"leave {stage} {number}: exit code {code}")
        if not joined:
            self.plant.start(stage, number)

    async def freeze(self) -> None:
        """Freeze a worker beyond its session, wake it, and kill another one of its stage, or any."""
        stage, number = self._one()
        self.told(f"freeze {stage} {number}")
        self.plant.freeze(stage, number)
        await asyncio.sleep(_FROZEN_S)
        self.told(f"wake {stage} {number}")
        self.plant.wake(stage, number)
        await asyncio.sleep(self._chance.uniform(1, 4))
        others = [key for key in sorted(self.plant.workers) if key != (stage, number)]
        same = [key for key in others if key[0] == stage]
        other = self._chance.choice(same or others)
        self.told(f"kill -9 {other[0]} {other[1]}")
        self.plant.kill(*other)
        self.plant.start(*other)

    async def broker(self) -> None:
        """Kill the broker and start it again on its data."""
        self.told("kill -9 broker")
        await asyncio.to_thread(self.plant.broker.kill)
        await asyncio.sleep(2)
        await asyncio.to_thread(self.plant.broker.start)
        self.told("broker is back")

    async def index(self) -> None:
        """Kill the index server and start it again on its data."""
        if self.plant.qdrant is None:
            return
        self.told("kill -9 index")
        await asyncio.to_thread(self.plant.qdrant.kill)
        await asyncio.sleep(4)
        await asyncio.to_thread(self.plant.qdrant.start)
        self.told("index is back")
