"""``bench bounds``: what must stay flat as a space grows - state, what is written of it, time, memory, files."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from infra.bench.bounds_dialogues import Dialogue
from infra.bench.bounds_readings import Reading, Written, on_disk, resident
from infra.bench.bounds_tables import print_readings, print_recalls
from infra.bench.filled import filled, scratch, warmed
from infra.bench.latency import ASKED, Latency, latency_of
from infra.embedded_memory import EmbeddedMemory
from infra.errors import UsageError
from infra.importers import publish
from infra.settings import Settings
from schemas.space import Space
from stages.ports import Embedder
from stages.text.tokens import content_tokens

ALONE = 50
"""Turns told one by one before each reading, as a bot tells them: each is a cut of every stage."""

TOGETHER = 500
"""Turns before those whose time is taken, told at once."""

SMALL = 10
"""Turns of a space of the home that has many."""


async def run_bounds(settings: Settings, told: Sequence[Dialogue], turns: int, console: Console) -> None:
    """Tell each dialogue up to ``turns`` turns, read it off at each power of ten, and time recalls."""
    embedder = await warmed(settings)
    console.print(f"anabranch {version('anabranch')}   model {embedder.model}")
    recalls: list[tuple[str, Latency]] = []
    for dialogue in told:
        console.print(f"{dialogue.name}: {dialogue.speakers} speakers; {dialogue.source}")
        readings = await _grown(settings, dialogue, turns, embedder, recalls)
        print_readings(console, dialogue.name, readings)
    recalls.append(await _many_spaces(settings, told[0], turns // SMALL, embedder, console))
    print_recalls(console, recalls)


async def _grown(
    settings: Settings, dialogue: Dialogue, turns: int, embedder: Embedder, recalls: list[tuple[str, Latency]]
) -> list[Reading]:
    async with _home(settings, embedder) as warming:
        await warming.tell(dialogue, 0, ALONE)  # what a process reads once is not the first turns' fault
    async with _home(settings, embedder) as home:
        readings = [await home.read(dialogue, last) for last in _stops(turns)]
        latency = await latency_of(home.memory, _questions(dialogue, turns), embedder, turns)
        recalls.append((f"{dialogue.name}, one space", latency))
    return readings


def _stops(turns: int) -> list[int]:
    """Return the numbers of turns at which a dialogue is read off: powers of ten from 100 on, and the last turn."""
    powers = [10**power for power in range(2, 9) if 10**power < turns]
    return [*powers, turns]


@dataclass(slots=True)
class _Home:
    memory: EmbeddedMemory
    folder: Path
    turns: int = 0

    async def tell(self, dialogue: Dialogue, first: int, end: int) -> Written:
        """Publish turns at once and run until they are committed; return what was written of state."""
        written = Written()
        await publish(self.memory, dialogue.events(first, end))
        await self.memory.plane.runtime.run(written.cut)
        self.turns = end
        return written

    async def read(self, dialogue: Dialogue, turns: int) -> Reading:
        """Go on up to ``turns`` turns, the last ``ALONE`` of them one by one, and read off."""
        end = turns - ALONE
        await self.tell(dialogue, self.turns, max(self.turns, end - TOGETHER))
        together, together_ms = await self._timed(dialogue, end, end - self.turns)
        alone, alone_ms = await self._timed(dialogue, turns, 1)
        status = self.memory.inspect(dialogue.space)
        return Reading(
            turns=turns,
            stages=status.stages,
            alone=alone,
            together=together,
            alone_ms=alone_ms,
            together_ms=together_ms,
            journal=on_disk(*self.folder.glob("log.sqlite*")),
            index=on_disk(self.folder / "index"),
            resident=resident(),
            lettered=status.letters,
        )

    async def _timed(self, dialogue: Dialogue, end: int, step: int) -> tuple[dict[str, float], float]:
        """Tell turns up to ``end`` in steps; return bytes of state by stage and milliseconds, both a turn."""
        first, total = self.turns, Written()
        began = time.perf_counter()  # noqa: TID251 - a benchmark measures
        while self.turns < end:
            total.plain.update((await self.tell(dialogue, self.turns, self.turns + step)).plain)
        took = time.perf_counter() - began  # noqa: TID251
        count = end - first
        return {stage: size / count for stage, size in total.plain.items()}, 1000 * took / count


@asynccontextmanager
async def _home(settings: Settings, embedder: Embedder) -> AsyncIterator[_Home]:
    async with scratch(settings, embedder) as (memory, folder):
        if not isinstance(memory, EmbeddedMemory):
            msg = "the bounds are those of the embedded mode: unset ANABRANCH_KAFKA"
            raise UsageError(msg)
        yield _Home(memory, folder)


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
