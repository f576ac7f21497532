"""How much one key may ask: a bucket of tokens for each, filled at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_BURST: Final = 2.0
"""Seconds of the rate that may come at once: bots wake together."""

_KNOWN: Final = 100_000
"""Buckets kept; those that are full again are forgotten then."""


@dataclass(slots=True)
class Buckets:
    """Token buckets by key: ``rate`` requests a second each, twice as many at once."""

    rate: float
    now: Callable[[], float] = time.monotonic  # noqa: TID251 - a rate is of the clock
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, key_id: str) -> float:
        """Take a token and return 0, or how long (s) until there is one."""
        now, most = self.now(), max(1.0, _BURST * self.rate)
        left, since = self._left.get(key_id, (most, now))
        left = min(most, left + (now - since) * self.rate)
        if len(self._left) >= _KNOWN:
            self._left = {one: kept for one, kept in self._left.items() if now - kept[1] < most / self.rate}
        if left < 1.0:
            self._left[key_id] = (left, now)
            return (1.0 - left) / self.rate
        self._left[key_id] = (left - 1.0, now)
        return 0.0
