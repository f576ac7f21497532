"""Scores of different retrievers on one scale, in whole numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import isqrt
from typing import Self

UNIT = 1000
"""Standardized scores are thousandths of a standard deviation."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Turns raw scores into distances from their mean, in thousandths of a standard deviation.

    Sums of standardized scores beat reciprocal ranks (mechanics, recall 4): they keep how far the best stand out.
    ``floor`` is what a turn gets that the list does not hold: it would have scored no better than the list's last.
    """

    count: int
    total: int
    spread: int
    lowest: int

    @classmethod
    def of(cls, scores: Collection[int], zeros: int = 0) -> Self:
        """Measure a list of scores, and so many zeros that it leaves out; of nothing everything is 0."""
        count, total = len(scores) + zeros, sum(scores)
        spread = isqrt(count * sum(score * score for score in scores) - total * total)
        lowest = min(scores, default=0)
        return cls(count, total, spread, min(lowest, 0) if zeros else lowest)

    def __call__(self, score: int) -> int:
        """Return the standardized ``score``; 0 where all scores are equal."""
        return UNIT * (self.count * score - self.total) // self.spread if self.spread else 0

    @property
    def floor(self) -> int:
        """The standardized score of what was not found."""
        return self(self.lowest)
