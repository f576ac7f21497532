"""One log, killed at each of its steps in turn: on either side of every write, wherever a run can end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.space import Space
from stages.contract import Unavailable
from tests.fakes.disturbed import Way, small_window
from tests.fakes.effort import strides
from tests.fakes.folders import quick_folder
from tests.fakes.rig import Rig
from tests.fakes.rigs import edge_rig, found, odd_rig, real_rig
from tests.fakes.runtime import Died
from tests.fakes.sent import Kind, Sent

CUT = 3
SPACE, OTHER = Space("acme/u-1"), Space("bell/u-1")
ODD = [
    Sent(SPACE, Kind.TURN, "a", "one"),
    Sent(SPACE, Kind.JUNK, text="words"),
    Sent(SPACE, Kind.TURN, "a", "one"),
    Sent(OTHER, Kind.TURN, "a", "one"),
    Sent(SPACE, Kind.TURN, "b", " "),
    Sent(SPACE, Kind.TURN, "c", "crashes route"),
    Sent(SPACE, Kind.DRAIN, "d"),
    Sent(OTHER, Kind.FAULTY, "b"),
    Sent(SPACE, Kind.TURN, "e", "refused by commit"),
    Sent(SPACE, Kind.TURN, "f", "two"),
]
TALK = [
    Sent(SPACE, Kind.TURN, "a", "I live in Oslo. My flight is on Monday at nine."),
    Sent(SPACE, Kind.TURN, "b", "Booked for Thursday at nine.", speaker="rook", minute=1),
    Sent(OTHER, Kind.TURN, "a", 'I read "The Salt Cartographer" yesterday.'),
    Sent(SPACE, Kind.TURN, "c", "No, I said Monday.", minute=2),
    Sent(SPACE, Kind.TURN, "d", "I moved to Berlin.", minute=9000),
    Sent(SPACE, Kind.DRAIN, "e", minute=9001),
    Sent(SPACE, Kind.TURN, "a", "I live in Rome.", revision=1, minute=9002),
    Sent(OTHER, Kind.TURN, "b", "That book made me miss my bus.", minute=2),
    Sent(SPACE, Kind.TURN, "b", "Booked for Thursday at nine.", speaker="rook", minute=9003),
    Sent(SPACE, Kind.TURN, "f", "Back to the flight: which hotel?", minute=9004),
]


CASES = [
    (odd_rig, ODD, Died, 4),
    (odd_rig, ODD, Unavailable, 12),
    (real_rig, TALK, Died, 14),
    (edge_rig, TALK, Died, 60),
]
"""How far apart the steps are at which the quick profile dies: a run has some 200, the thorough profile tries all."""


@pytest.mark.parametrize(("made", "log", "error", "step"), CASES, ids=["odd", "odd-unavailable", "real", "edge"])
async def test_memory_is_the_same(
    made: Callable[[Path], Rig], log: list[Sent], error: type[BaseException], step: int
) -> None:
    with small_window(2), quick_folder() as folder:
        calm = made(folder)
        calm.publish(log)
        steps = await calm.run(Way(cut=CUT))
        await calm.finish()
        for at in range(1, steps + 1, strides(step)):
            await _killed(made, log, Way(cut=CUT, dies=at, error=error), calm)


async def _killed(made: Callable[[Path], Rig], log: list[Sent], way: Way, calm: Rig) -> None:
    """Kill a run of its own and compare; its folder goes at once, since an index takes 64 MB of memory."""
    with quick_folder() as folder:
        killed = made(folder)
        killed.publish(log)
        await killed.run(way)
        assert killed.deaths == (way.error is Died)
        await killed.finish(Way(cut=CUT))
        for space in (SPACE, OTHER):
            assert killed.fortune(space) == calm.fortune(space), way
            if made is edge_rig:
                assert await found(killed, space) == await found(calm, space), way
