"""Two systems on the same questions: the mean difference with a bootstrap interval over the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import bootstrap  # type: ignore[import-untyped]  # ships no types

DRAWS: Final = 10_000
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of ``first - second`` over questions, and the bounds of its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it in points of a percentage."""
        return f"{100 * self.mean:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"


def paired(first: Sequence[float], second: Sequence[float], *, seed: int = 1) -> Difference:
    """Return the mean difference of two systems' values of the same questions, with its 95 % percentile interval.

    Raises:
        ValueError: if there are no questions, or the two answered different numbers of them.
    """
    apart = np.subtract(first, second, dtype=np.float64)
    if not apart.size:
        msg = "no question, no difference"
        raise ValueError(msg)
    mean = float(apart.mean())
    if np.ptp(apart) == 0:
        return Difference(mean, mean, mean)  # nothing to draw from
    rng = np.random.default_rng(seed)
    drawn = bootstrap(
        (apart,), np.mean, n_resamples=DRAWS, confidence_level=LEVEL, method="percentile", rng=rng, batch=500
    )
    return Difference(mean, float(drawn.confidence_interval.low), float(drawn.confidence_interval.high))
