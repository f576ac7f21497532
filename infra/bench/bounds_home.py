"""A home that a dialogue is told to and that is read off now and then."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.bench.bounds_dialogues import Dialogue
from infra.bench.bounds_readings import Reading, Written, on_disk, resident
from infra.bench.filled import scratch
from infra.embedded_memory import EmbeddedMemory
from infra.errors import UsageError
from infra.importers import publish
from infra.settings import Settings
from stages.ports import Embedder

ALONE = 50
"""Turns told one by one before each reading, as a bot tells them: each is a cut of every stage."""

TOGETHER = 500
"""Turns before those whose time is taken, told at once."""


@dataclass(slots=True)
class Home:
    """A home that a dialogue is told to; ``turns`` counts them."""

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
        together, together_ms = await self.timed(dialogue, end, end - self.turns)
        alone, alone_ms = await self.timed(dialogue, turns, 1)
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

    async def timed(self, dialogue: Dialogue, end: int, step: int) -> tuple[dict[str, float], float]:
        """Tell turns up to ``end`` in steps; return bytes of state by stage and milliseconds, both a turn."""
        first, total = self.turns, Written()
        began = time.perf_counter()  # noqa: TID251 - a benchmark measures
        while self.turns < end:
            total.plain.update((await self.tell(dialogue, self.turns, self.turns + step)).plain)
        took = time.perf_counter() - began  # noqa: TID251
        count = end - first
        return {stage: size / count for stage, size in total.plain.items()}, 1000 * took / count


@asynccontextmanager
async def fresh(settings: Settings, embedder: Embedder) -> AsyncIterator[Home]:
    """Give a home that holds nothing, gone afterwards.

    Raises:
        UsageError: if a cluster is set: there the home is not this process's.
    """
    async with scratch(settings, embedder) as (memory, folder):
        if not isinstance(memory, EmbeddedMemory):
            msg = "the bounds are those of the embedded mode: unset ANABRANCH_KAFKA"
            raise UsageError(msg)
        yield Home(memory, folder)
