"""Int8 vectors of records in memory, as rows of floats that hold the same whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Scores = NDArray[np.int64] | NDArray[np.float32]

SPARSE: Final = 4
"""Where fewer than one row in so many is wanted, their vectors are gathered; else all are multiplied."""


@dataclass(slots=True)
class Vectors:
    """Int8 vectors as floats, a row for each record: ``room`` of them first, then half as many more each time."""

    dimension: int
    room: int
    _there: NDArray[np.bool_] = field(init=False)
    _rows: NDArray[np.float32] = field(init=False)
    _all: bool = True

    def __post_init__(self) -> None:
        """Begin without a row."""
        self._there = np.zeros(self.room, dtype=np.bool_)
        self._rows = np.zeros((self.room, self.dimension), dtype=np.float32)

    @property
    def size(self) -> int:
        """Bytes."""
        return self._rows.nbytes

    def put(self, row: int, vector: bytes | None) -> None:
        """Set the vector of the row after the last, or one before it."""
        if row >= len(self._rows):
            more = row + 8 + row // 2
            self._rows = np.concatenate([self._rows, np.zeros((more - row, self.dimension), dtype=np.float32)])
            self._there = np.concatenate([self._there, np.zeros(len(self._rows) - len(self._there), dtype=np.bool_)])
        self._there[row] = vector is not None
        self._all &= vector is not None
        if vector is not None:
            self._rows[row] = np.frombuffer(vector, dtype=np.int8)

    def dots(self, vector: bytes, rows: Rows, end: int) -> tuple[Rows, Scores]:
        """Return those of ``rows``, all below ``end``, that have a vector, and their dot products: whole floats."""
        asked = np.frombuffer(vector, dtype=np.int8).astype(np.float32)
        rows = rows if self._all else rows[self._there[rows]]
        if len(rows) < end // SPARSE:
            return rows, _products(self._rows[rows], asked)
        return rows, _products(self._rows[:end], asked)[rows]


def _products(vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> Scores:
    # not BLAS: its threads wait for each other, 8 ms on a busy machine; memory sets the pace, so one is as fast
    products: NDArray[np.float32] = np.einsum("ij,j->i", vectors, asked)
    return products
