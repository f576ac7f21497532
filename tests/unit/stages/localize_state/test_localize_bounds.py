"""The state is bounded, flat, and survives being cut into parts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stages.localize_state import Forest
from tests.fakes.forest import Grove
from tests.fakes.history import MemoryHistory

WORDS = "kernel disk sound card driver boot mount network wifi panel theme font editor shell cron mail proxy".split()


class Forgetful(MemoryHistory):
    """A memory into which nothing has been committed: what is measured is the stage."""

    def add(self, rows: object, vectors: object = ()) -> None:
        return


def size(parts: Mapping[str, bytes], *, vectors: bool = False) -> int:
    return sum(len(data) for name, data in parts.items() if name.startswith("vectors") == vectors)


def line(number: int, speakers: int) -> tuple[str, str]:
    who = number * 7919 % speakers if number % 3 else (number // 2) % speakers
    words = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5, 7, 11))
    address = f"speaker{(number * 31) % speakers:03d}: " if number % 2 else ""
    return f"speaker{who:03d}", f"{address}{words} number {number}"


@pytest.mark.parametrize(("turns", "speakers"), [(5_000, 200), (3_000, 2)])
async def test_the_state_stays_small_and_flat(turns: int, speakers: int) -> None:
    """What `bench bounds` measures at 10,000 turns, over five times the turns that fill the state."""
    grove = Grove(history=Forgetful())
    sizes: dict[int, int] = {}
    written: list[int] = []
    before: Mapping[str, bytes] = {}
    for number in range(turns):
        who, text = line(number, speakers)
        await grove.say("bot" if speakers == 2 and number % 2 else who, text)
        grove.placements.clear()
        if number % 500 == 499:
            sizes[number] = size(grove.state.parts())
        if number > turns - 300:
            parts = grove.state.parts()
            changed = {name: data for name, data in parts.items() if before.get(name) != data}
            written.append(size(changed))
            before = parts
    assert max(sizes.values()) <= 64_000
    assert max(sizes.values()) <= 1.3 * min(size for number, size in sizes.items() if number > 900)
    assert size(grove.state.parts(), vectors=True) <= 72 * 384 * 1.5
    assert len(grove.state.window) < 72
    assert len(grove.state.vectors) < 72
    assert sum(written[1:]) / len(written[1:]) <= 4_096
    assert Forest.from_parts(grove.state.parts()) == grove.state


async def test_an_entry_of_a_turn_stays_within_500_bytes_beside_its_ids() -> None:
    grove = Grove()
    for number in range(40):
        await grove.say(f"s{number % 5}", f"s{(number + 1) % 5}: " + "donaudampfschifffahrtsgesellschaft " * 200)
    assert all(entry.size <= 600 for entry in grove.state.window)
    assert all(len(place.path_summary.encode()) <= 500 for place in grove.placements.values())


@pytest.mark.parametrize("letter", ["x", "\u4e2d", "\U0001f600", '"'])
async def test_ids_and_names_as_long_as_they_may_be_do_not_break_the_bound(letter: str) -> None:
    grove = Grove()
    for number in range(150):
        name = f"{number % 100}{letter * 250}"
        await grove.say(
            name, f"words {number} {letter * 3000}", turn_id=f"{number}{letter * 250}", session=letter * 250
        )
    assert size(grove.state.parts()) <= 64_000
    assert grove.state.window
    assert Forest.from_parts(grove.state.parts()) == grove.state


async def test_a_broken_part_is_refused() -> None:
    grove = Grove()
    await grove.say("mia", "hello")
    for name in grove.state.parts():
        with pytest.raises(ValueError, match="validation error"):
            Forest.from_parts(dict(grove.state.parts()) | {name: b'[{"position": "x"}]'})
