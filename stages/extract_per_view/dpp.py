"""Which of many candidates differ most: greedy MAP of a determinantal point process.

Chen, Zhang and Zhou 2018, algorithm 1: the Cholesky factor of the chosen grows by a row with each choice, so that the
gain of every other candidate is known at once; O(K^2 n) in all. L_ij is the cosine of two candidates (quality is
uniform, AutoViewMem 3.1). Every operation is on whole columns, one after the other, so the result does not depend on
how a library splits sums; gains are compared as integers, ties go to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_GRAIN: Final = 10**9
"""Gains are compared in billionths: below that they are rounding, not difference."""

_NOTHING: Final = 10
"""Billionths of gain up to which a candidate lies in the space of the chosen: the determinant would be 0."""


def kernel(vectors: Sequence[bytes]) -> Matrix:
    """Return L, the cosines of int8 vectors, shape (n, n); a vector of zeros is like nothing, itself apart."""
    rows = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(vectors), -1).astype(np.int64)
    dots = np.einsum("ik,jk->ij", rows, rows)  # whole numbers: exact in any order
    lengths = np.sqrt(np.maximum(dots.diagonal(), 1).astype(np.float64))
    cosines: Matrix = dots / lengths[:, None] / lengths[None, :]
    np.fill_diagonal(cosines, 1.0)
    return cosines


def greedy_map(cosines: Matrix, first: int, most: int) -> list[int]:
    """Return up to ``most`` indices, ``first`` foremost, each next one that with which det(L_S) is greatest.

    Fewer where what is left adds nothing to the determinant.
    """
    gains = cosines.diagonal().copy()
    columns: list[Matrix] = []
    chosen = [first]
    while len(chosen) < min(most, len(gains)):
        gains = _after(cosines, columns, gains, chosen[-1])
        scores = np.rint(gains * _GRAIN).astype(np.int64)
        scores[chosen] = -1
        best = int(np.argmax(scores))  # the first of equals
        if scores[best] <= _NOTHING:
            break
        chosen.append(best)
    return chosen


def _after(cosines: Matrix, columns: list[Matrix], gains: Matrix, last: int) -> Matrix:
    """Add the column of the last choice to the Cholesky factor; return what each candidate would still add."""
    column = cosines[last].copy()
    for known in columns:
        column -= known[last] * known
    column /= np.sqrt(gains[last])
    columns.append(column)
    rest: Matrix = gains - column * column
    return rest


def mean_similarity(cosines: Matrix, chosen: Sequence[int]) -> float:
    """Return the mean cosine of the pairs among ``chosen``, which a good choice makes small."""
    pairs = [cosines[i, j] for at, i in enumerate(chosen) for j in chosen[:at]]
    return float(np.mean(pairs)) if pairs else 0.0
