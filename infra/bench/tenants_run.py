"""``bench tenants``: two tenants that say the same and ask the same, and neither ever sees or moves the other's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console

from infra.bench.report import lines, quantile
from infra.bench.rig import Rig, rigged, tenant_of
from infra.gateway.keys import KeyFile
from infra.settings import Settings

_THINGS: Final = "cello violin kite bicycle camera novel garden boat lamp clock".split()
_PLACES: Final = "Oslo Berlin Lisbon Kyoto Dublin Bergen Porto Ghent".split()
_BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TOGETHER: Final = 50
"""Turns of a request."""
_ASKED: Final = 16
"""Questions of a space, half of them by the words that only the other tenant says."""
_SETTLED_S: Final = 600.0

_now = time.perf_counter  # noqa: TID251 - a benchmark measures

Hits = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run: ``turns`` of each of ``spaces`` spaces of both tenants, and ``recalls``, ``together`` of them at once."""

    recalls: int = 10_000
    turns: int = 100
    spaces: int = 4
    together: int = 8
    qdrant: Path | None = None


@dataclass(slots=True)
class Side:
    """A tenant: its name, the word that only its turns have, its client, and its answers before the other wrote."""

    tenant: str
    word: str
    client: httpx.AsyncClient
    first: dict[tuple[str, str], Hits] = field(default_factory=dict)

    def spaces(self, count: int) -> list[str]:
        """Return its spaces."""
        return [f"{self.tenant}/s{number}" for number in range(count)]


@dataclass(slots=True)
class Outcome:
    """What was seen: answers with the other's words, answers that moved, wrong answers to wrong keys."""

    recalls: int = 0
    stale: int = 0
    leaks: int = 0
    moved: int = 0
    wrong: list[str] = field(default_factory=list)
    took: list[float] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nobody saw or moved what is another's."""
        return not (self.leaks or self.moved or self.wrong)


async def run_tenants(settings: Settings, wanted: Wanted, console: Console) -> Outcome:
    """Run it on a gateway of its own, print what happened, and return it."""
    outcome = Outcome()
    async with rigged(settings, wanted.qdrant) as rig:
        names = tenant_of("one"), tenant_of("two")
        sides = [Side(name, word_of(name), rig.client(rig.key(name))) for name in names]
        ours, theirs = sides
        async with ours.client, theirs.client:
            await _told(ours, wanted)
            ours.first = {
                (space, question): await _asked(ours, space, question, outcome)
                for space in ours.spaces(wanted.spaces)
                for question in _questions(ours, theirs, wanted)
            }
            telling = asyncio.create_task(_told(theirs, wanted))
            await _all_asked(sides, wanted, outcome)
            await telling
            await _keys(rig, ours, theirs, outcome)
        _print(rig.mode, wanted, outcome, console)
    return outcome


def word_of(tenant: str) -> str:
    """Return the word that only a tenant's turns have."""
    return f"{tenant.partition('-')[0]}canary"


def _turns(side: Side, space: int, count: int) -> Iterator[dict[str, Any]]:
    """Give turns with the words that both tenants say, and one word each that nobody else does."""
    for number in range(count):
        thing, place = _THINGS[(number + space) % len(_THINGS)], _PLACES[number % len(_PLACES)]
        yield {
            "turn_id": f"t{number}",
            "speaker": {"id": "mia", "name": "Mia", "role": "user"},
            "text": f"I bought a {thing} in {place}. The receipt says {side.word}{number}.",
            "at": (_BEGAN + timedelta(minutes=number)).isoformat(),
        }


def _questions(side: Side, other: Side, wanted: Wanted) -> list[str]:
    """Return questions of a tenant: what both say, and by the other's own words."""
    step = max(1, wanted.turns // (_ASKED // 2))
    numbers = range(0, wanted.turns, step)
    plain = [f"Who bought a {_THINGS[n % len(_THINGS)]} in {_PLACES[n % len(_PLACES)]}?" for n in numbers]
    return [*plain, *(f"What does the receipt say about {other.word}{n}?" for n in numbers), f"{side.word}0"]


async def _told(side: Side, wanted: Wanted) -> None:
    """Publish all of a tenant's turns, and return when they are in memory."""
    for number, space in enumerate(side.spaces(wanted.spaces)):
        turns = list(_turns(side, number, wanted.turns))
        for first in range(0, len(turns), _TOGETHER):
            body = {"turns": turns[first : first + _TOGETHER]}
            (await side.client.post(f"/v1/spaces/{space}/turns", json=body)).raise_for_status()
    deadline = _now() + _SETTLED_S
    for space in side.spaces(wanted.spaces):
        while await _state(side, f"/v1/spaces/{space}/turns/t{wanted.turns - 1}") != "committed":
            if _now() > deadline:
                msg = f"{space}: its last turn is not in memory after {_SETTLED_S:.0f} s"
                raise TimeoutError(msg)
            await asyncio.sleep(0.2)


async def _state(side: Side, path: str) -> str:
    return str((await side.client.get(path)).raise_for_status().json()["state"])


async def _asked(side: Side, space: str, question: str, outcome: Outcome) -> Hits:
    began = _now()
    answer = await side.client.post(f"/v1/spaces/{space}/recall", json={"question": question, "k": 10})
    found = answer.raise_for_status().json()
    outcome.took.append(_now() - began)
    outcome.recalls += 1
    outcome.stale += found["stale"]
    return tuple((f"{hit['record_id']} {hit['text']}", hit["score"]) for hit in found["hits"])


async def _all_asked(sides: Sequence[Side], wanted: Wanted, outcome: Outcome) -> None:
    """Ask for both tenants in turn, several at once, and look at every answer."""
    ours, theirs = sides
    wants = [(side, space, question) for side, other in ((ours, theirs), (theirs, ours))
             for space in side.spaces(wanted.spaces) for question in _questions(side, other, wanted)]  # fmt: skip
    half = len(wants) // 2
    mixed = [want for pair in zip(wants[:half], wants[half:], strict=True) for want in pair]
    left = islice(cycle(mixed), wanted.recalls)

    async def ask() -> None:
        for side, space, question in left:
            hits = await _asked(side, space, question, outcome)
            other = theirs if side is ours else ours
            outcome.leaks += any(other.word in text for text, _ in hits)
            outcome.moved += side is ours and hits != ours.first[space, question]

    await asyncio.gather(*(ask() for _ in range(wanted.together)))


async def _keys(rig: Rig, ours: Side, theirs: Side, outcome: Outcome) -> None:
    """Ask with no key, a wrong one, the other's and a revoked one."""
    space, nowhere = theirs.spaces(1)[0], f"{theirs.tenant}/none"
    key_id = next(key.key_id for key in KeyFile(rig.settings.key_file).every() if key.tenant == ours.tenant)
    key = ours.client.headers["Authorization"].removeprefix("Bearer ")
    forged = key[:-1] + ("A" if key[-1] != "A" else "B")
    async with rig.client(None) as nobody, rig.client("ab_wrong") as stranger, rig.client(forged) as forger:
        for what, client in (("no key", nobody), ("a wrong key", stranger), ("a wrong secret", forger)):
            await _must(outcome, what, client, ours.spaces(1)[0], HTTPStatus.UNAUTHORIZED)
    theirs_seen = await _must(outcome, "the other's key", ours.client, space, HTTPStatus.NOT_FOUND)
    none_seen = await _must(outcome, "the other's key, no space", ours.client, nowhere, HTTPStatus.NOT_FOUND)
    if theirs_seen != none_seen:
        outcome.wrong.append(f"a space that is there answers {theirs_seen}, one that is not {none_seen}")
    KeyFile(rig.settings.key_file).revoke(key_id)
    await _must(outcome, "a revoked key", ours.client, ours.spaces(1)[0], HTTPStatus.UNAUTHORIZED)


async def _must(
    outcome: Outcome, what: str, client: httpx.AsyncClient, space: str, status: HTTPStatus
) -> dict[str, Any]:
    """Ask in each way, note whatever is not answered by ``status``, and return what one said but its request's id."""
    turn = {"turn_id": "x", "speaker": {"id": "m", "role": "user"}, "text": "x", "at": _BEGAN.isoformat()}
    path = f"/v1/spaces/{space}"
    answers = [
        await client.post(f"{path}/recall", json={"question": "receipt"}),
        await client.post(f"{path}/context", json={"text": "receipt"}),
        await client.post(f"{path}/turns", json=turn),
        await client.get(f"{path}/turns/t0"),
    ]
    outcome.wrong += [
        f"{what}: {one.request.url.path} is {one.status_code}" for one in answers if one.status_code != status
    ]
    said = answers[0].json()
    return {name: said[name] for name in said if name not in {"instance", "request_id"}}


def _print(mode: str, wanted: Wanted, outcome: Outcome, console: Console) -> None:
    middle, slow = (1000 * quantile(outcome.took, part) for part in (0.5, 0.99))
    told = [
        f"{mode}, two tenants, {wanted.spaces} spaces each of {wanted.turns} turns, {wanted.together} at once",
        f"recalls={outcome.recalls} stale={outcome.stale} p50 {middle:.0f} ms, p99 {slow:.0f} ms",
        f"answers with the other's words={outcome.leaks}, moved by the other's words={outcome.moved}",
        f"wrong answers to keys={len(outcome.wrong)}",
        *outcome.wrong[:5],
    ]
    lines(console, told)
