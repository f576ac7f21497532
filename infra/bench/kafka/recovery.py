"""How long a stage is not served whole after a fault, and how large its workers grow."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from infra.bench.kafka.serving import Name

_LOOK_S: Final = 0.5
_MEMORY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    fault: str
    stage: str
    since: float
    joins: Name | None


@dataclass(slots=True)
class Recovery:
    """Watches which workers serve.

    ``serving`` gives the partitions of each that does, ``partitions`` how many each stage has, ``pids`` all processes.
    ``times`` are seconds from a fault until every partition of its stage is read and served, by the kind of fault;
    ``largest`` is the most memory (bytes) that a worker has taken, 0 where that cannot be read.
    """

    serving: Callable[[], Awaitable[Mapping[Name, int]]]
    partitions: Mapping[str, int]
    pids: Callable[[], list[int]]
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    largest: int = 0
    _waiting: list[_Waiting] = field(default_factory=list)

    def begun(self, fault: str, stage: str, joins: Name | None = None) -> None:
        """Note a fault of a stage; one that brings a worker is over when that one serves too."""
        self._waiting.append(_Waiting(fault, stage, asyncio.get_running_loop().time(), joins))

    async def watch(self) -> None:
        """Look until cancelled. Those who serve are asked only while a stage is not whole: the asking costs."""
        loop = asyncio.get_running_loop()
        measured = 0.0
        while True:
            await asyncio.sleep(_LOOK_S)
            if loop.time() - measured > _MEMORY_S:
                self.largest, measured = max([self.largest, *map(peak, self.pids())]), loop.time()
            if self._waiting:
                serves = await self.serving()
                self._note(serves, loop.time())

    def _note(self, serves: Mapping[Name, int], now: float) -> None:
        over = [one for one in self._waiting if self._is_over(one, serves)]
        for one in over:
            self.times[one.fault].append(now - one.since)
            self._waiting.remove(one)

    def _is_over(self, one: _Waiting, serves: Mapping[Name, int]) -> bool:
        served = sum(count for (stage, _), count in serves.items() if stage == one.stage)
        return served >= self.partitions[one.stage] and (one.joins is None or one.joins in serves)

    def told(self) -> list[str]:
        """Describe it, a line for each kind of fault."""
        lines = [
            f"after {fault} ({len(times)}): served whole again in {median(times):.1f} s, at most {max(times):.1f} s"
            for fault, times in sorted(self.times.items())
        ]
        lines += [f"after {one.fault} {one.stage} was not seen whole again" for one in self._waiting]
        return [*lines, f"the largest worker took {self.largest // 2**20} MB"] if self.largest else lines


def peak(pid: int) -> int:
    """Return the most memory (bytes) that a process has had resident; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def standstill(ends: Iterable[float]) -> float:
    """Return the longest time (s) between two ends."""
    return max((later - earlier for earlier, later in pairwise(sorted(ends))), default=0.0)
