"""Which keys are of one theme: each linked to the most similar one (AdaMem B.4; the floor and the words are ours)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stages.consolidate.graph import Edge, components
from stages.text.similarity import FULL

_NEVER: Final = -1.0
"""Less than any cosine that is linked."""


def nearest(vectors: Sequence[bytes], floor: int) -> list[tuple[int, ...]]:
    """Return the components of the graph in which each is linked to its nearest, from ``floor`` thousandths on."""
    close = _dots(vectors).astype(np.float64) / FULL
    np.fill_diagonal(close, _NEVER)
    best = close.argmax(axis=1) if len(vectors) > 1 else np.zeros(0, dtype=np.int64)
    links = [
        Edge(min(at, int(other)), max(at, int(other)), 0)
        for at, other in enumerate(best)
        if 1000 * close[at, other] >= floor
    ]
    return [part for part in components(range(len(vectors)), links) if len(part) > 1]


def mutual(vectors: Sequence[bytes], stems: Sequence[frozenset[str]], floor: int) -> list[tuple[int, ...]]:
    """Return the themes that rules see: mutual nearest that share a telling word are put together, again and again.

    Groups are as near as their members are on the average; all of a group have a word in common. Sums of whole numbers
    are exact, so the same keys make the same groups everywhere.
    """
    sums = _dots(vectors)
    groups: dict[int, tuple[int, ...]] = {at: (at,) for at in range(len(vectors))}
    words = dict(enumerate(stems))
    while pairs := _pairs(sums, groups, words, floor):
        for one, other in pairs:
            groups[one] = tuple(sorted(groups[one] + groups.pop(other)))
            words[one] &= words.pop(other)
            sums[one] += sums[other]
            sums[:, one] += sums[:, other]
    return sorted(groups.values())


def _pairs(
    sums: NDArray[np.int64], groups: dict[int, tuple[int, ...]], words: dict[int, frozenset[str]], floor: int
) -> list[tuple[int, int]]:
    """Return the groups that are each other's nearest."""
    order = sorted(groups)
    if not order:
        return []
    sizes = np.array([len(groups[at]) for at in order], dtype=np.float64)
    close = sums[np.ix_(order, order)] / (np.outer(sizes, sizes) * FULL)
    close[~_sharing([words[at] for at in order])] = _NEVER
    best = close.argmax(axis=1)
    return [
        (order[at], order[other])
        for at, other in enumerate(best.tolist())
        if at < other and best[other] == at and 1000 * close[at, other] >= floor
    ]


def _sharing(words: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Return which two groups have a word in common; none has with itself."""
    known = {word: at for at, word in enumerate(sorted(frozenset().union(*words)))}
    has = np.zeros((len(words), max(len(known), 1)), dtype=np.float64)
    for at, own in enumerate(words):
        has[at, [known[word] for word in own]] = 1
    shared: NDArray[np.bool_] = (has @ has.T) > 0
    np.fill_diagonal(shared, val=False)
    return shared


def _dots(vectors: Sequence[bytes]) -> NDArray[np.int64]:
    if not vectors:
        return np.zeros((0, 0), dtype=np.int64)
    matrix = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(vectors), -1).astype(np.float64)
    products: NDArray[np.int64] = (matrix @ matrix.T).astype(np.int64)
    return products
