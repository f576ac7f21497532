"""Bots that publish to a gateway: spaces as unequal as those of people, bursts, and retries with the same turn id."""

from __future__ import annotations

import asyncio
import random  # noqa: TID251 - seeded: the same seed makes the same bots
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

import httpx

from schemas.space import Space

_TEXTS: Final = (
    "I went to {place} with my {person} and we talked about the {thing}.",
    "My {person} bought a new {thing} in {place}.",
    "Do you remember the {thing} that I mentioned?",
    "We are going to {place} next week.",
    "Actually, the {thing} is blue, not green.",
)
_WORDS: Final = {
    "place": "Oslo Berlin Lisbon Kyoto Dublin Bergen Porto Ghent".split(),
    "person": "sister brother aunt neighbour colleague teacher".split(),
    "thing": "cello violin kite bicycle camera novel garden".split(),
}
_BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_BURST: Final = 6
"""Turns that a bot sends without a pause, at most."""
_TRY_S: Final = 30.0
_FIRST_S: Final = 0.05
_LONGEST_S: Final = 2.0

_now = time.perf_counter  # noqa: TID251 - a benchmark measures
_LATER: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass
class Told:
    """What the bots saw. Times are in seconds: of the try that was accepted, and from the first try to there."""

    accepted: list[tuple[Space, str]] = field(default_factory=list)
    accept: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    retries: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass
class Bots:
    """``count`` bots of a tenant, which publish ``turns`` turns in all; of its ``spaces`` the n-th has weight 1/n.

    Between its bursts a bot waits ``pause`` seconds on average.
    """

    tenant: str
    count: int
    turns: int
    spaces: int
    seed: int
    pause: float
    told: Told = field(default_factory=Told)

    async def publish(self, url: str, key: str) -> None:
        """Publish everything; return when all is accepted."""
        headers, tls = {"Authorization": f"Bearer {key}"}, httpx.create_ssl_context()
        async with AsyncExitStack() as stack:
            going = []
            for number in range(self.count):  # a client each: one pool of 200 connections took 20 ms a request
                client = httpx.AsyncClient(base_url=url, headers=headers, timeout=_TRY_S, verify=tls)
                share = self.turns // self.count + (number < self.turns % self.count)
                going.append(self._bot(await stack.enter_async_context(client), number, share))
            await asyncio.gather(*going)

    async def _bot(self, client: httpx.AsyncClient, number: int, share: int) -> None:
        chance = random.Random(f"{self.seed} {number}")  # noqa: S311 - no secret
        weights = [1 / (1 + rank) for rank in range(self.spaces)]
        said = 0
        while said < share:
            await asyncio.sleep(chance.expovariate(1 / self.pause))
            space = Space(f"{self.tenant}/s{chance.choices(range(self.spaces), weights)[0]}")
            for _ in range(min(share - said, chance.randint(1, _BURST))):
                await self._say(client, space, _turn(number, said, chance), chance)
                said += 1

    async def _say(self, client: httpx.AsyncClient, space: Space, turn: dict[str, Any], chance: random.Random) -> None:
        """Publish a turn until it is accepted: what had no answer may have been taken, and the same id says so."""
        began, pause = _now(), _FIRST_S
        while True:
            tried = _now()
            answer = await _sent(client, space, turn)
            if answer is not None and answer.status_code == HTTPStatus.ACCEPTED:
                self.told.accepted.append((space, turn["turn_id"]))
                self.told.accept.append(_now() - tried)
                self.told.whole.append(_now() - began)
                return
            if answer is not None and answer.status_code not in _LATER:
                self.told.refused.append(answer.text)
                return
            self.told.retries += 1
            least = float(answer.headers.get("Retry-After", 0)) if answer is not None else 0.0
            await asyncio.sleep(max(least, chance.uniform(0, pause)))
            pause = min(_LONGEST_S, 2 * pause)


async def _sent(client: httpx.AsyncClient, space: Space, turn: dict[str, Any]) -> httpx.Response | None:
    try:
        return await client.post(f"/v1/spaces/{space}/turns", json=turn)
    except httpx.HTTPError:
        return None


def _turn(bot: int, number: int, chance: random.Random) -> dict[str, Any]:
    words = {name: chance.choice(known) for name, known in _WORDS.items()}
    return {
        "turn_id": f"b{bot}:{number}",
        "speaker": {"id": f"u{bot}", "role": ("user", "agent")[number % 2]},
        "text": chance.choice(_TEXTS).format(**words),
        "at": (_BEGAN + timedelta(minutes=number)).isoformat(),
    }
