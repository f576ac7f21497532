"""``bench bounds``: what must stay flat as a space grows - state, what is written of it, time, memory, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rich.console import Console

from infra.bench.bounds_dialogues import Dialogue
from infra.bench.bounds_home import ALONE, fresh
from infra.bench.bounds_pace import pace_of
from infra.bench.bounds_tables import holds, print_pace, print_readings, print_recalls
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


async def run_bounds(settings: Settings, told: Sequence[Dialogue], turns: int, console: Console) -> bool:
    """Tell each dialogue up to ``turns`` turns, read it off at each power of ten, and time recalls.

    Returns:
        Whether every bound of state holds.
    """
    embedder = await warmed(settings)
    console.print(f"anabranch {version('anabranch')}   model {embedder.model}")
    grown = [await _grown(settings, dialogue, turns, embedder, console) for dialogue in told]
    small = await _many_spaces(settings, told[0], turns // SMALL, embedder, console)
    print_recalls(console, [*(one.recall for one in grown), small])
    return all(one.holds for one in grown)


@dataclass(frozen=True, slots=True)
class _Grown:
    """A dialogue of which everything is printed but how long recalls took."""

    holds: bool
    recall: tuple[str, Latency]


async def _grown(settings: Settings, dialogue: Dialogue, turns: int, embedder: Embedder, console: Console) -> _Grown:
    console.print(f"{dialogue.name}: {dialogue.speakers} speakers; {dialogue.source}; {dialogue.digest}")
    async with fresh(settings, embedder) as warming:
        await warming.tell(dialogue, 0, ALONE)  # what a process reads once is not the first turns' fault
    async with fresh(settings, embedder) as home:
        stops = _stops(turns)
        readings = [await home.read(dialogue, last) for last in stops]
        print_readings(console, dialogue.name, readings)
        latency = await latency_of(home.memory, _questions(dialogue, turns), embedder, turns)
        if len(stops) > _BASE + 1:
            print_pace(console, await pace_of(settings, dialogue, home, stops[_BASE], embedder))
    return _Grown(holds(readings), (f"{dialogue.name}, one space", latency))


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
