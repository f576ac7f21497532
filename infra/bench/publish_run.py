"""``bench publish``: many bots, a gateway that is killed, and what the log and memory hold of what was accepted."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from infra.bench.bots import Bots, Told
from infra.bench.gateway_process import GatewayProcess
from infra.bench.report import lines, quantile
from infra.bench.rig import rigged, tenant_of
from infra.bootstrap import open_memory
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.memory import OutcomeRow, OutcomeState
from schemas.space import Space

_WORKERS_S: Final = 600.0
"""Seconds for workers to commit what was accepted, without one that ends: then what is pending is told as lost."""

_now = time.monotonic  # noqa: TID251 - a benchmark measures


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: its bots with their pauses (s) between bursts, and how often the gateway is killed meanwhile.

    ``qdrant`` is the server's binary where an installation is started for it, see ``rig``.
    """

    bots: int = 200
    turns: int = 4000
    spaces: int = 100
    kills: int = 2
    seed: int = 1
    pause: float = 6.0
    qdrant: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Accepted turns: how many, how many the log lacks, and how many memory lacks or holds more than once."""

    told: Told
    seconds: float
    unlogged: int
    forgotten: int
    repeated: int

    @property
    def is_clean(self) -> bool:
        """Whether every accepted turn is at least once in the log and exactly once in memory, and none was refused."""
        return not any((self.unlogged, self.forgotten, self.repeated, self.told.refused))

    def lines(self) -> list[str]:
        """Describe it."""
        told, count = self.told, len(self.told.accepted)
        p50, p99 = (1000 * quantile(told.accept, part) for part in (0.5, 0.99))
        whole, longest = quantile(told.whole, 0.99), max(told.whole, default=0.0)
        rate = f"{self.seconds:.1f} s, {count / self.seconds:.0f} turns/s"
        lost = f"missing in the log={self.unlogged}, in memory={self.forgotten}"
        return [
            f"accepted={count} refused={len(told.refused)} retries={told.retries} in {rate}",
            f"accept p50 {p50:.0f} ms, p99 {p99:.0f} ms; with retries p99 {whole:.2f} s, longest {longest:.2f} s",
            f"accepted turns {lost}, more than once in memory={self.repeated}",
        ]


async def run_publish(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it on a gateway of its own, print what happened, and return it."""
    async with rigged(settings, wanted.qdrant) as rig:
        tenant = tenant_of("publish")
        bots = Bots(tenant, wanted.bots, wanted.turns, wanted.spaces, wanted.seed, wanted.pause)
        seconds = await _published(rig.gateway, bots, rig.key(tenant), wanted.kills, console)
        rig.gateway.stop()  # an embedded home is one process's
        async with open_memory(rig.settings) as memory:
            outcome = await _judged(memory, bots.told, seconds)
    head = f"{rig.mode}, {wanted.bots} bots, {wanted.spaces} spaces, {wanted.kills} kills, seed {wanted.seed}"
    lines(console, [head, *outcome.lines(), *(f"refused: {refusal}" for refusal in bots.told.refused[:3])])
    return outcome


async def _published(gateway: GatewayProcess, bots: Bots, key: str, kills: int, console: Console) -> float:
    """Let the bots publish everything, and kill the gateway meanwhile; return how long that took (s)."""
    began = _now()
    going = asyncio.create_task(bots.publish(gateway.url, key))
    for number in range(kills):
        goal = (number + 1) * bots.turns // (kills + 1)
        while len(bots.told.accepted) < goal and not going.done():  # noqa: ASYNC110 - bots wait for nobody
            await asyncio.sleep(0.01)
        gateway.kill()
        console.print(f"  killed with {len(bots.told.accepted)} turns accepted", highlight=False)
        await gateway.start()
    await going
    return _now() - began


async def _judged(memory: Memory, told: Told, seconds: float) -> Outcome:
    """Look every accepted turn up."""
    by_space: defaultdict[Space, set[str]] = defaultdict(set)
    for space, turn_id in told.accepted:
        by_space[space].add(turn_id)
    unlogged = forgotten = repeated = 0
    deadline = _now() + _WORKERS_S
    for space, turn_ids in by_space.items():
        while memory.inspect(space).sums.pending and _now() < deadline:  # noqa: ASYNC110 - the stages' work
            await asyncio.sleep(0.1)
        logged = {turn.turn_id for turn in memory.turns(space)}
        rows = [row for row in memory.rows(space) if isinstance(row, OutcomeRow)]
        times = Counter(row.event_id for row in rows if row.state is OutcomeState.COMMITTED)
        unlogged += len(turn_ids - logged)
        forgotten += sum(times[turn_id] == 0 for turn_id in turn_ids)
        repeated += sum(times[turn_id] > 1 for turn_id in turn_ids)
    return Outcome(told, seconds, unlogged, forgotten, repeated)
