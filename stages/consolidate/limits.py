"""From which cosine on two records are looked at, by encoder: a threshold on a cosine belongs to its encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MOST: Final = 20
"""Records of a cluster: a request shows that many, and a person can still read why they are one (ours)."""

FINEST: Final = 999
"""Thousandths of a cosine up to which a threshold is raised to split a cluster (AutoViewMem 3.2)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """In thousandths of a cosine: ``merge`` proposes two records of one key, ``theme`` two keys of one theme."""

    merge: int
    theme: int


CALIBRATED: Final = {"all-MiniLM-L6-v2": Limits(merge=590, theme=600), "hash": Limits(merge=590, theme=500)}
"""Merges by `anabranch bench merges` on tests/data/merge_pairs.jsonl: with MiniLM 590 is the highest step from which
nine in ten of the pairs that are one are still joined where a model may (94 % are proposed; from 650 on 90, from 900 on
48). It is low because a pair is proposed only within one kind, key, branch and time: of such pairs of LoCoMo a third
reach it, 7 % reach 700, one in 4,000 reaches 900, so large groups are split for a model. By rules a higher one, up
to 700, would do: as many are joined, and none of the others at any. Themes by eye on LoCoMo: at 550 two of five topics
had no more in common than a word like "spoke" or "wait". Of hashed vectors, which are for tests, the lowest containment
is at 594."""

CAUTIOUS: Final = Limits(merge=900, theme=850)
"""For encoders that nobody calibrated: many put every pair above 700; the paper's 0.90 is for one of those."""


def limits_of(model: str) -> Limits:
    """Return the thresholds of an encoder."""
    return next((limits for name, limits in CALIBRATED.items() if name in model), CAUTIOUS)
