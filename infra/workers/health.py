"""Whether a worker gets anywhere: lag falls, or there is none, or it says what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from infra.workers.sight import Sight

STILL_S: Final = 60.0
"""Seconds without progress after which a worker is unwell: a cut of short turns takes milliseconds, one of texts at
the limit about a minute."""

OVER: Final = 5.0
"""After so many times as long the process ends itself. A slow encoder at long texts is slow again after a restart, so
that comes only when it is surely no more than that."""


@dataclass
class Health:
    """Judges one sight after another; ``reason`` says what is wrong, ``is_over`` that a new process should try."""

    still: float = STILL_S
    reason: str | None = None
    is_over: bool = False
    _mark: object = None
    _moved: float | None = None
    _held: float | None = None

    def look(self, seen: Sight, now: float) -> None:
        """Take a sight at a time (s, of any clock that only goes forward)."""
        works = any(one.has_work for one in seen.partitions)
        if self._moved is None or seen.mark != self._mark or not works or seen.waits_for:
            self._mark, self._moved = seen.mark, now
        if seen.partitions:
            self._held = now
        without = now - self._held if self._held is not None else 0.0
        self._judge(now - self._moved, without, seen)

    def _judge(self, stood: float, without: float, seen: Sight) -> None:
        self.reason, self.is_over = None, False
        if without >= self.still:  # its group has forgotten it: nothing that it could finish is lost by an end
            self.reason, self.is_over = f"no partitions for {without:.0f} s, after it had some", True
        elif stood >= self.still:
            behind = sum(one.lag or 0 for one in seen.partitions if one.stopped is None)
            self.reason = f"no progress for {stood:.0f} s although {behind} events wait or partitions are being read"
            self.is_over = stood >= OVER * self.still
