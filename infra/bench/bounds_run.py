"""``bench bounds``: what must stay flat as a space grows - state, what is written of it, time, memory, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from rich.console import Console

from infra.bench.bounds_dialogues import Dialogue
from infra.bench.bounds_home import ALONE, fresh
from infra.bench.bounds_pace import Pace, pace_of
from infra.bench.bounds_readings import Reading
from infra.bench.bounds_tables import print_paces, print_readings, print_recalls
from infra.bench.filled import filled, warmed
from infra.bench.latency import ASKED, Latency, latency_of
from infra.settings import Settings
from schemas.space import Space
from stages.ports import Embedder
from stages.text.tokens import content_tokens

_BASE = 1
"""The stop that the last is compared with: most turns before the first had no past to read."""

SMALL = 10
"""Turns of a space of the home that has many."""


async def run_bounds(settings: Settings, told: Sequence[Dialogue], turns: int, console: Console) -> None:
    """Tell each dialogue up to ``turns`` turns, read it off at each power of ten, and time recalls."""
    embedder = await warmed(settings)
    console.print(f"anabranch {version('anabranch')}   model {embedder.model}")
    timed = _Timed()
    for dialogue in told:
        console.print(f"{dialogue.name}: {dialogue.speakers} speakers; {dialogue.source}")
        readings = await _grown(settings, dialogue, turns, embedder, timed)
        print_readings(console, dialogue.name, readings)
    timed.recalls.append(await _many_spaces(settings, told[0], turns // SMALL, embedder, console))
    if timed.paces:
        print_paces(console, timed.paces)
    print_recalls(console, timed.recalls)


@dataclass(frozen=True, slots=True)
class _Timed:
    """What is printed of all dialogues together."""

    recalls: list[tuple[str, Latency]] = field(default_factory=list)
    paces: list[Pace] = field(default_factory=list)


async def _grown(
    settings: Settings, dialogue: Dialogue, turns: int, embedder: Embedder, timed: _Timed
) -> list[Reading]:
    async with fresh(settings, embedder) as warming:
        await warming.tell(dialogue, 0, ALONE)  # what a process reads once is not the first turns' fault
    async with fresh(settings, embedder) as home:
        stops = _stops(turns)
        readings = [await home.read(dialogue, last) for last in stops]
        latency = await latency_of(home.memory, _questions(dialogue, turns), embedder, turns)
        timed.recalls.append((f"{dialogue.name}, one space", latency))
        if len(stops) > _BASE + 1:
            timed.paces.append(await pace_of(settings, dialogue, home, stops[_BASE], embedder))
    return readings


def _stops(turns: int) -> list[int]:
    """Return the numbers of turns at which a dialogue is read off: powers of ten from 100 on, and the last turn."""
    powers = [10**power for power in range(2, 9) if 10**power < turns]
    return [*powers, turns]


async def _many_spaces(
    settings: Settings, dialogue: Dialogue, count: int, embedder: Embedder, console: Console
) -> tuple[str, Latency]:
    """Return how long a recall takes in a home of many small spaces, each question in another one."""
    spaces = [Space(f"bounds/small-{number}") for number in range(count)]
    events = (event for n, space in enumerate(spaces) for event in dialogue.events(n * SMALL, (n + 1) * SMALL, space))
    async with filled(settings, events, console, embedder) as (memory, _):
        asked = [
            (spaces[turn // SMALL], question)
            for turn, (_, question) in zip(_spread(count * SMALL), _questions(dialogue, count * SMALL), strict=True)
        ]
        return f"{count} spaces", await latency_of(memory, asked, embedder, SMALL)


def _spread(turns: int) -> list[int]:
    """Return the numbers of turns that are asked about."""
    return [turns * number // ASKED for number in range(ASKED)]


def _questions(dialogue: Dialogue, turns: int) -> list[tuple[Space, str]]:
    """Return questions about turns all over a dialogue, by the longest words of each."""
    asked = []
    for number in _spread(turns):
        text = dialogue.turns[number % len(dialogue.turns)]["text"]
        words = sorted(dict.fromkeys(content_tokens(text)), key=lambda word: (-len(word), word))[:3]
        asked.append((dialogue.space, f"What was said about {' and '.join(words) or 'it'}?"))
    return asked
