"""Scales for stored states, turn by turn, and a crowd that speaks to one stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from schemas.normalized import Normalized
from schemas.space import Space
from schemas.turn import Speaker, Turn
from stages.contract import Emit, Stage
from streams import state as states
from streams.state import Saved, StateHeader
from tests.fakes.busy import Naming
from tests.fakes.forest import START, normalized

NEWCOMERS = 160
"""Turns until window, tips and people have long been full of usual ids: they are at some 70."""

CROWD = Space("acme/channel")


class Weights:
    """The bytes of each stage's stored state, a list a kind, turn by turn."""

    def __init__(self) -> None:
        self.of: dict[str, list[int]] = defaultdict(list)

    def weigh(self, stage: str, saved: Saved) -> None:
        """Weigh parts, vectors and header apart, and what the last save wrote but for vectors."""
        plain = {name: data for name, data in saved.parts.items() if not name.startswith("vectors")}
        fresh = [data for name, data in plain.items() if saved.header.parts[name][1] == saved.header.version]
        header = saved.header.model_dump_json()
        for kind, size in {
            "parts": _size(plain.values()),
            "vectors": _size(saved.parts.values()) - _size(plain.values()),
            "header": len(header),
            "last save": _size(fresh) + len(header),
        }.items():
            self.of[f"{kind} of {stage}"].append(size)

    def check(self) -> None:
        for what, sizes in self.of.items():
            third = len(sizes) // 3
            assert max(sizes) < 64_000, f"not small: {what}"
            if "last save" in what:
                assert sum(sizes[third:]) / len(sizes[third:]) < 4096, f"much is written a turn: {what}"
            else:
                assert max(sizes[-third:]) <= 1.05 * max(sizes[third : 2 * third]), f"not flat: {what}"


def _size(parts: Iterable[bytes]) -> int:
    return sum(map(len, parts))


async def check_crowd(stage: Stage[Any, Any, Any], messages: Iterable[Any]) -> None:
    """However many speak, what a stage keeps stays as large as it was."""
    weights, state, saved = Weights(), stage.initial(CROWD), states.EMPTY
    for message in messages:
        outcome = await stage.decide(message, state)
        assert isinstance(outcome, Emit)
        state = outcome.state
        saved, _ = states.save(saved, StateHeader(), state.parts())
        weights.weigh(stage.name, saved)
    weights.check()


async def newcomers(ids: Naming) -> list[Normalized]:
    """Return turns, each of somebody new about something new a day later, so that each opens a branch."""
    turns = [
        Turn(
            space=CROWD,
            turn_id=ids("turn", n),
            speaker=Speaker(id=ids("user", n), name=ids("name", n)),
            text=f"topic{n} subject{n}",
            at=START + timedelta(days=n),
        )
        for n in range(NEWCOMERS)
    ]
    return [await normalized(turn, position) for position, turn in enumerate(turns)]
