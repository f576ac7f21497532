"""Faults in an order that a seed decides: what a plant goes through while a load is on its way."""

from __future__ import annotations

import asyncio
import random  # noqa: TID251 - seeded: the same seed makes the same faults
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from infra.bench.kafka.plant import Plant
from infra.bench.kafka.recovery import Recovery
from infra.bench.kafka.serving import Name, serving
from streams.topology import FLOW

_FROZEN_S: Final = 16.0
"""Longer than a session (10 s): the group takes the worker's partitions away while it sleeps."""

_JOINING: Final = 90
"""Number from which workers that join for a while are counted."""

_LOOK_S: Final = 0.5

_PATIENCE_S: Final = 90.0
"""Until a worker serves: on two busy cores its start takes 10 s, a group that lost a member waits out a session."""


@dataclass(slots=True)
class Faults:
    """Puts faults into a plant. ``told`` hears of each; workers that end are started again, as a supervisor does.

    ``away`` is how long (s) the index server is gone; ``odd`` says which faults were not the ones that were meant.
    """

    plant: Plant
    seed: int
    told: Callable[[str], None]
    pause: tuple[float, float] = (1.0, 4.0)
    away: float = 4.0
    odd: list[str] = field(default_factory=list)
    recovery: Recovery = field(init=False)
    _chance: random.Random = field(init=False)
    _joined: int = _JOINING

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 - no secret
        workers = self.plant.workers
        self.recovery = Recovery(self._serving, self.plant.partitions, lambda: [one.pid for one in workers.values()])

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

    def _one(self) -> Name:
        return self._chance.choice(sorted(self.plant.workers))

    async def _serving(self) -> dict[Name, int]:
        return await asyncio.to_thread(serving, self.plant.broker.bootstrap, dict(self.plant.workers))

    async def _until(self, holds: Callable[[dict[Name, int]], bool]) -> bool:
        """Wait until something holds of those that serve, and return whether it ever did."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _PATIENCE_S
        while not holds(await self._serving()):
            if loop.time() > end:
                return False
            await asyncio.sleep(_LOOK_S)
        return True

    def _oddly(self, what: str) -> None:
        self.told(what)
        self.odd.append(what)

    async def kill(self) -> None:
        """End a worker with ``kill -9``."""
        self._kill(*self._one())

    def _kill(self, stage: str, number: int) -> None:
        self.told(f"kill -9 {stage} {number}")
        self.plant.kill(stage, number)
        self.recovery.begun("kill", stage)
        self.plant.start(stage, number)

    async def join(self) -> None:
        """Let one more worker of a stage join, and wait until it has partitions."""
        stage = self._chance.choice(FLOW).name
        self._joined += 1
        name = (stage, self._joined)
        self.told(f"join {stage} {self._joined}")
        self.plant.start(*name)
        self.recovery.begun("join", stage, name)
        if await self._until(lambda serves: name in serves):
            self.told(f"{stage} {self._joined} has joined: it serves {(await self._serving()).get(name, 0)} partitions")
        else:
            self._oddly(f"{stage} {self._joined} has not joined: it serves nothing after {_PATIENCE_S:.0f} s")

    async def leave(self) -> None:
        """Let a worker that serves leave by itself, the one that joined last if there is one."""
        joined = [key for key in sorted(self.plant.workers) if key[1] > _JOINING]
        stage, number = joined[-1] if joined else self._one()
        served = await self._until(lambda serves: (stage, number) in serves)
        code = await asyncio.to_thread(self.plant.leave, stage, number)
        self.recovery.begun("leave", stage)
        if served and code == 0:
            self.told(f"leave {stage} {number}")
        else:
            self._oddly(f"leave {stage} {number} was not graceful: exit code {code}, it served: {served}")
        if not joined:
            self.plant.start(stage, number)

    async def freeze(self) -> None:
        """Freeze a worker until its session is over and others have its partitions, wake it, and kill another one."""
        stage, number = self._of_many()
        if not await self._until(lambda serves: (stage, number) in serves):
            self._oddly(f"freeze {stage} {number}: it served nothing yet")
        before = _of_stage(await self._serving(), stage)
        self.told(f"freeze {stage} {number}")
        self.plant.freeze(stage, number)
        self.recovery.begun("freeze", stage)
        await asyncio.sleep(_FROZEN_S)
        alone = sum(key[0] == stage for key in self.plant.workers) == 1
        if not alone and not await self._until(lambda serves: _of_stage(serves, stage) >= before):
            self._oddly(f"freeze {stage} {number}: nobody took its partitions over")
        self.told(f"wake {stage} {number}")
        self.plant.wake(stage, number)
        await asyncio.sleep(self._chance.uniform(1, 4))
        self._kill_beside(stage, number)

    def _of_many(self) -> Name:
        """Choose a worker of a stage that has others, who can take over; any if there is none."""
        keys = sorted(self.plant.workers)
        several = [key for key in keys if sum(other[0] == key[0] for other in keys) > 1]
        return self._chance.choice(several or keys)

    def _kill_beside(self, stage: str, number: int) -> None:
        """Kill another worker of the stage, or any."""
        others = [key for key in sorted(self.plant.workers) if key != (stage, number)]
        same = [key for key in others if key[0] == stage]
        self._kill(*self._chance.choice(same or others))

    async def broker(self) -> None:
        """Kill the broker and start it again on its data."""
        self.told("kill -9 broker")
        await asyncio.to_thread(self.plant.broker.kill)
        for step in FLOW:
            self.recovery.begun("broker", step.name)
        await asyncio.sleep(2)
        await asyncio.to_thread(self.plant.broker.start)
        self.told("broker is back")

    async def index(self) -> None:
        """Kill the index server and start it again on its data after a while."""
        if self.plant.qdrant is None:
            return
        self.told(f"kill -9 index, for {self.away:.0f} s")
        await asyncio.to_thread(self.plant.qdrant.kill)
        await asyncio.sleep(self.away)
        await asyncio.to_thread(self.plant.qdrant.start)
        self.told("index is back")


def _of_stage(serves: dict[Name, int], stage: str) -> int:
    return sum(count for (of, _), count in serves.items() if of == stage)
