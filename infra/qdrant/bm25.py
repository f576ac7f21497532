"""BM25 in whole numbers, so that a score is the same whatever the order in which the engine sums it.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.3, with k1 = 0.9,
b = 0.4 and an average length of 50 tokens for all kinds: short turns want less of both than documents do (k1 = 1.2 and
b = 0.75 cost 0.9 points of evidence recall at 10 on LoCoMo; average lengths of 30 to 80 are alike). The average is a
constant, since a running one would change old scores with each new record.

A score is the sum over tokens of (query count x idf) x weight. Both factors are kept as integers in 64ths. The engine
adds in float32, where sums of integers below 2^24 are exact: its order of summing (it differs between a fresh and an
optimized segment, and moved the last bits of nearly every fractional score) then cannot be seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from schemas.space import Space

GRID: Final = 64
"""Steps of one: an idf of 5 is then kept to 0.2 %, a weight of 1 to 0.8 %."""

_EXACT: Final = 2**24
"""Up to here float32 holds every integer."""

_MOST_WEIGHT: Final = 122
"""No weight is above (k1 + 1) x 64 = 121.6."""


@lru_cache(maxsize=65536)
def dimension(space: Space, token: str) -> int:
    """Return the sparse dimension of a token: 32 bits of a stable hash of (space, token).

    The space is part of it, so that a search walks the postings of its own space only.
    """
    return int.from_bytes(blake2b(f"{space}\n{token}".encode(), digest_size=4).digest(), "big")


def weights(space: Space, tokens: Sequence[str]) -> dict[int, int]:
    """Return the weight (64ths, at least 1) of each dimension of a record with these tokens."""
    counts = Counter(dimension(space, token) for token in tokens)
    return {dim: _weight(count, len(tokens)) for dim, count in sorted(counts.items())}


def _weight(count: int, length: int) -> int:
    # 64 x count x (k1 + 1) / (count + k1 x (1 - b + b x length / 50)), multiplied out by 1250 to whole numbers
    numerator = 152_000 * count
    denominator = 1250 * count + 675 + 9 * length
    return max(1, (2 * numerator + denominator) // (2 * denominator))


def query(space: Space, tokens: Sequence[str], records: int, holding: Callable[[int], int]) -> dict[int, int]:
    """Return the query value (count x idf, 64ths) of each dimension that tells records apart.

    ``records`` is the number of records of the corpus, ``holding`` says how many of them hold a dimension. Tokens that
    nobody holds, or everybody, are left out; so are the commonest ones of a query too long for exact sums.
    """
    counts = Counter(dimension(space, token) for token in tokens)
    values = {dim: count * _idf(records, holding(dim)) for dim, count in counts.items()}
    kept: dict[int, int] = {}
    total = 0
    for dim, value in sorted(values.items(), key=lambda item: (-item[1], item[0])):
        total += value * _MOST_WEIGHT
        if value and total < _EXACT:
            kept[dim] = value
    return dict(sorted(kept.items()))


def _idf(records: int, holding: int) -> int:
    if not holding:
        return 0
    return math.floor(GRID * math.log((2 * records + 2) / (2 * holding + 1)) + 0.5)
