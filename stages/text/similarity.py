"""Integer similarity of int8 vectors and of token sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

FULL = 127 * 127
"""Dot product of a unit vector with itself."""


def dot(left: bytes, right: bytes) -> int:
    """Return the dot product of two int8 vectors; cosine is this over ``FULL``.

    Raises:
        ValueError: if their lengths differ.
    """
    if len(left) != len(right):
        msg = f"vectors of {len(left)} and {len(right)} dimensions cannot be compared"
        raise ValueError(msg)
    return int(np.dot(_int32(left), _int32(right)))


def dots(one: bytes, many: Sequence[bytes]) -> list[int]:
    """Return the dot product of one int8 vector with each of many."""
    if not many:
        return []
    matrix: NDArray[np.int32] = _int32(b"".join(many)).reshape(len(many), len(one))
    products: list[int] = (matrix @ _int32(one)).tolist()
    return products


def permille(product: int) -> int:
    """Return a dot product as thousandths of a cosine, rounded half up; integers all the way."""
    return (2000 * product + FULL) // (2 * FULL)


def overlap(left: Collection[str], right: Collection[str]) -> int:
    """Return the Jaccard overlap of two token sets in thousandths."""
    a, b = set(left), set(right)
    union = len(a | b)
    return 1000 * len(a & b) // union if union else 0


def _int32(vector: bytes) -> NDArray[np.int32]:
    return np.frombuffer(vector, dtype=np.int8).astype(np.int32)
