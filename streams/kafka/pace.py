"""Lets the lanes of a worker begin together when they are slow: fewer and larger requests carry the same work."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

_LONGEST: Final = 0.25
"""Seconds between two beats at most."""

_WEIGHT: Final = 0.05
"""Of the newest cut in what cuts are taken to last."""


@dataclass(slots=True)
class Pace:
    """Holds a lane that would begin until the next beat: beats are as far apart as a cut takes.

    What a produce request costs, here and at the broker, depends little on how much is in it. Lanes that begin in one
    turn of the loop send their outputs in one request, have their acknowledgements at once, and so on to the end.
    A cut is slow where the machines have much to do, and there waiting costs nothing: who waits has more to do at once.
    """

    _lasts: float = 0.0
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

    def took(self, seconds: float, cuts: int) -> None:
        """Note how long a lane took for its cuts; a long wait for a model or a server counts as the longest beat."""
        self._lasts += _WEIGHT * (min(_LONGEST, seconds / cuts) - self._lasts)

    def _ring(self) -> None:
        self._due = asyncio.get_running_loop().time() + min(_LONGEST, self._lasts)
        beat, self._beat = self._beat, None
        if beat is not None:
            beat.set_result(None)
