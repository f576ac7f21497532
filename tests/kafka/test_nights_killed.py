"""Runs of consolidation on a cluster killed with ``kill -9`` while turns come in all the time: nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path

from infra.bench.kafka.plant import Plant
from infra.bootstrap import open_embedded
from infra.kafka.topics import LOG_PARTITIONS
from infra.models import HashEmbedder
from infra.nights.api import RunBusy, Told
from infra.nights.kafka import open_kafka_ground
from infra.remote import KafkaMemory, open_remote
from infra.settings import Settings
from schemas.memory import OutcomeRow, OutcomeState, Row
from schemas.space import Space
from streams.codec import canonical
from streams.kafka.log import Log
from streams.kafka.wire import OWN
from tests.contract.test_killed_nights import PETS, must_lead_to_open_ones
from tests.fakes.forked import started
from tests.fakes.night_runs import NIGHT, night, remembered, silent
from tests.fakes.real_home import said

KILLS = int(os.environ.get("KILLS", "10"))
SPACES = tuple(Space(f"{tenant}/mia") for tenant in ("ann", "bob", "cleo", "dan", "eve"))
"""A tenant each: that of a killed run is held until its session has passed, and the next kill takes another one."""


@dataclass
class Traffic:
    """Turns that come one after the other, a space in turn; ``told`` counts those of each that were taken."""

    memory: KafkaMemory
    told: dict[Space, int] = field(default_factory=lambda: dict.fromkeys(SPACES, 0))

    async def say(self, space: Space) -> None:
        """Say something that was said before, or else what nobody said."""
        n = self.told[space]
        text = f"I have a {PETS[n % len(PETS)]}." if n % 4 else f"I own {n} red cars."
        await self.memory.publish(space, [said(f"t{n}", text, space, minutes=n)])
        self.told[space] += 1

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Publish some 15 turns a second inside the block."""
        ends = asyncio.Event()

        async def publish() -> None:
            for space in cycle(SPACES):
                await self.say(space)
                if ends.is_set():
                    return
                await asyncio.sleep(0.06)

        publishing = asyncio.create_task(publish())
        try:
            yield
        finally:
            ends.set()
            await publishing


@dataclass(frozen=True)
class Runs:
    """``anabranch consolidate`` as processes of their own."""

    environment: dict[str, str]
    out: Path

    def ended(self, space: Space, kill_after: float = 60.0) -> int | None:
        """Run over a tenant, and kill it after so many seconds; return its exit code."""
        process = started(["consolidate", "--tenant", space.tenant], self.environment, self.out)
        process.join(kill_after)
        process.kill()
        process.join()
        return process.exitcode


async def test_nothing_is_lost_where_nights_are_killed_beside_live_traffic(
    installation: Plant, settings: Settings, tmp_path: Path
) -> None:
    chance = random.Random(8)
    runs = Runs(environment(settings), tmp_path / "out")
    async with open_remote(settings, wait=False) as memory:
        traffic = Traffic(memory)
        for space in islice(cycle(SPACES), 24 * len(SPACES)):
            await traffic.say(space)
        await memory.run()
        began = time.monotonic()
        assert await asyncio.to_thread(runs.ended, SPACES[-1]) == 0
        took, codes = time.monotonic() - began, list[int | None]()
        async with traffic.beside():
            for number, space in enumerate(islice(cycle(SPACES), KILLS)):
                codes.append(await asyncio.to_thread(runs.ended, space, chance.uniform(0.2, 1.0) * took))
                if number == KILLS // 2:
                    installation.kill("route", 0)
                    installation.start("route", 0)
        assert codes.count(-signal.SIGKILL) > KILLS // 2, codes
        await memory.run()
    first, second = await two_nights(settings)
    assert not first.keys() ^ set(SPACES)
    assert not any(told.stale for told in first.values())
    assert not any(told.events for told in second.values())
    async with open_remote(settings) as memory:
        rows = {space: list(memory.rows(space)) for space in SPACES}
    for space, every in rows.items():
        assert must_lead_to_open_ones([json.loads(canonical(row)) for row in every]) > len(PETS)
        assert committed(every) == [f"t{n}" for n in range(traffic.told[space])]
    assert [canonical(row) for space in SPACES for row in rows[space]] == await replayed(settings, tmp_path / "home")


def environment(settings: Settings) -> dict[str, str]:
    return {
        "ANABRANCH_HOME": str(settings.home),
        "ANABRANCH_EMBEDDER": "hash",
        "ANABRANCH_KAFKA": str(settings.kafka),
        "ANABRANCH_QDRANT_URL": str(settings.qdrant_url),
        "ANABRANCH_QDRANT_GRPC_PORT": str(settings.qdrant_grpc_port),
    }


async def two_nights(settings: Settings) -> Sequence[dict[Space, Told]]:
    """Run over all twice; the first waits until the broker has forgotten who was killed."""
    async with open_kafka_ground(settings, silent) as ground, asyncio.timeout(60):
        first: dict[Space, Told] | None = None
        while first is None:
            try:
                first = await night(ground)
            except RunBusy:
                await asyncio.sleep(0.5)
        return first, await night(ground, NIGHT + timedelta(days=1))


def committed(rows: Sequence[Row]) -> list[str]:
    """Return the turns that have been committed, in the order of the log."""
    outcomes = [row for row in rows if isinstance(row, OutcomeRow) and row.state is OutcomeState.COMMITTED]
    named = (row.event_id for row in sorted(outcomes, key=lambda row: row.position))
    return [name for name in named if name.startswith("t")]


async def replayed(settings: Settings, home: Path) -> list[str]:
    """Give a home the log of the cluster; return the rows of all spaces there."""
    async with open_embedded(Settings(home=home, embedder="hash"), HashEmbedder()) as memory:
        async for record in Log(str(settings.kafka)).snapshot("turns", LOG_PARTITIONS):
            space = Space((record.key or b"").decode())
            memory.journal.append(space, [record.value or b""], own=OWN in record.headers)
        await memory.run()
        return remembered(memory.journal)
