"""``bench tokens``: a turn is published and asked for at once: it is found, or the answer says that it is stale."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console

from infra.bench.bots import Bots
from infra.bench.report import lines, quantile
from infra.bench.rig import rigged, tenant_of
from infra.settings import Settings

_BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_SPACES: Final = 20

_now = time.perf_counter  # noqa: TID251 - a benchmark measures


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: turns that are asked for at once, ``together`` at a time, beside so many bots that publish all the while.

    A bot waits ``pause`` seconds between its bursts, on average.
    """

    turns: int = 1000
    together: int = 4
    bots: int = 20
    pause: float = 6.0
    seed: int = 1
    qdrant: Path | None = None


@dataclass(slots=True)
class Outcome:
    """How many were found, how many declared stale, and which were neither."""

    found: int = 0
    stale: int = 0
    missed: list[str] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    beside: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether none was missed silently."""
        return not self.missed


async def run_tokens(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it on a gateway of its own, print what happened, and return it."""
    outcome = Outcome()
    async with rigged(settings, wanted.qdrant) as rig:
        tenant, others = tenant_of("tokens"), tenant_of("beside")
        bots = Bots(others, wanted.bots, 10**9, 50, wanted.seed, wanted.pause)
        beside = asyncio.create_task(bots.publish(rig.gateway.url, rig.key(others)))
        try:
            async with rig.client(rig.key(tenant)) as client:
                left = iter(range(wanted.turns))

                async def go() -> None:
                    for number in left:
                        await _one(client, tenant, number, outcome)

                await asyncio.gather(*(go() for _ in range(wanted.together)))
        finally:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)
        outcome.beside = len(bots.told.accepted)
        _print(rig.mode, wanted, outcome, console)
    return outcome


async def _one(client: httpx.AsyncClient, tenant: str, number: int, outcome: Outcome) -> None:
    """Publish a turn and ask for it with the token that came back."""
    path, began = f"/v1/spaces/{tenant}/s{number % _SPACES}", _now()
    told = (await client.post(f"{path}/turns", json=_turn(number))).raise_for_status().json()
    asked = {"question": f"What is the code of parcel{number}?", "after": told["after"], "k": 10}
    answer = (await client.post(f"{path}/recall", json=asked)).raise_for_status().json()
    outcome.took.append(_now() - began)
    if any(told["turn_ids"][0] in hit["turn_ids"] for hit in answer["hits"]):
        outcome.found += 1
    elif answer["stale"]:
        outcome.stale += 1
    else:
        outcome.missed.append(f"{path} {told['turn_ids'][0]}")


def _turn(number: int) -> dict[str, Any]:
    return {
        "turn_id": f"p{number}",
        "speaker": {"id": "mia", "name": "Mia", "role": "user"},
        "text": f"The code of parcel{number} is {7 * number + 3}.",
        "at": (_BEGAN + timedelta(minutes=number)).isoformat(),
    }


def _print(mode: str, wanted: Wanted, outcome: Outcome, console: Console) -> None:
    middle, slow = (1000 * quantile(outcome.took, part) for part in (0.5, 0.99))
    told = [
        f"{mode}, {wanted.turns} turns published and asked for at once, {wanted.together} at a time",
        f"beside them {outcome.beside} turns of {wanted.bots} bots",
        f"found={outcome.found} stale={outcome.stale} silently missed={len(outcome.missed)}",
        f"from publishing to the answer p50 {middle:.0f} ms, p99 {slow:.0f} ms",
        *outcome.missed[:5],
    ]
    lines(console, told)
