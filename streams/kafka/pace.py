"""Lets what is slow begin together, lanes and requests: fewer and larger requests carry the same work."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

_WEIGHT: Final = 0.05
"""Of the newest time in what they are taken to last."""


@dataclass(slots=True)
class Pace:
    """Holds whoever would begin until the next beat: beats are ``times`` as far apart as what begins takes.

    What a produce request costs, here and at the broker, depends little on how much is in it. Lanes that begin in one
    turn of the loop have their outputs ready together, and outputs that are sent in one turn go in one request. Both
    are slow where the machines have much to do, and there waiting costs nothing: who waits has more to do at once.
    ``longest`` is the time (s) between two beats at most, ``apart`` that between two now.
    """

    longest: float
    times: float
    apart: float = field(default=0.0, init=False)
    _due: float = 0.0
    _beat: asyncio.Future[None] | None = field(default=None, repr=False)

    async def wait(self) -> None:
        """Return at the next beat: now, if the last one was long enough ago."""
        loop = asyncio.get_running_loop()
        if self._beat is None:
            if loop.time() >= self._due:
                self._ring()
                return
            self._beat = loop.create_future()
            loop.call_at(self._due, self._ring)
        await asyncio.shield(self._beat)

    def took(self, seconds: float, cuts: int = 1) -> None:
        """Note how long one took for its cuts; a long wait for a model or a server counts as the longest beat."""
        self.apart += _WEIGHT * (min(self.longest, self.times * seconds / cuts) - self.apart)

    def _ring(self) -> None:
        self._due = asyncio.get_running_loop().time() + self.apart
        beat, self._beat = self._beat, None
        if beat is not None:
            beat.set_result(None)


def lanes() -> Pace:
    """Return when lanes begin: a third of a cut apart, since a cut waits for departures and they for each other.

    A whole cut apart, beats kept themselves alive: lanes in step depart in bursts, which are acknowledged later, so
    that cuts last longer. 20 turns a second then took 0.3 to 0.45 s through five stages in one run and 0.06 in another.
    """
    return Pace(longest=0.25, times=0.3)


def departures() -> Pace:
    """Return when requests leave: the longer their acknowledgements take, the more go together."""
    return Pace(longest=0.06, times=2.0)
