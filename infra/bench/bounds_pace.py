"""How much longer a turn takes in a space of many turns than in one of few, both told side by side.

A machine changes its speed by half within minutes, so what is minutes apart cannot be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infra.bench.bounds_dialogues import Dialogue
from infra.bench.bounds_home import Home, fresh
from infra.settings import Settings
from stages.ports import Embedder

_SLICES = 8
"""Slices of each kind; in every second one the large space goes first."""

_BULK = 64
"""Turns of a slice that are told at once: as many as may be on their way in a space."""

_ALONE = 8
"""Turns of a slice that are told one by one."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds a turn, slice by slice, in a space of ``few`` turns and in one of ``many``."""

    name: str
    few: int
    many: int
    bulk: tuple[tuple[float, float], ...]
    alone: tuple[tuple[float, float], ...]


async def pace_of(settings: Settings, dialogue: Dialogue, old: Home, few: int, embedder: Embedder) -> Pace:
    """Fill a second home with the first ``few`` turns of a dialogue, then tell both what comes next."""
    async with fresh(settings, embedder) as young:
        await young.tell(dialogue, 0, few)
        many = old.turns
        bulk = [await _slice(dialogue, (young, old), number, _BULK, _BULK) for number in range(_SLICES)]
        alone = [await _slice(dialogue, (young, old), number, _ALONE, 1) for number in range(_SLICES)]
        return Pace(dialogue.name, few, many, tuple(bulk), tuple(alone))


async def _slice(dialogue: Dialogue, homes: Sequence[Home], number: int, turns: int, step: int) -> tuple[float, float]:
    """Return the milliseconds a turn of each home, in their order; who goes first alternates."""
    took = {}
    for home in homes if number % 2 else reversed(homes):
        took[id(home)] = (await home.timed(dialogue, home.turns + turns, step))[1]
    young, old = (took[id(home)] for home in homes)
    return young, old
