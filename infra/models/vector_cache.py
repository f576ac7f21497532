"""Recent vectors by text, bounded by bytes."""

from __future__ import annotations

from collections import OrderedDict
from sys import getsizeof

_ENTRY = 160
"""Bytes of an ordered dictionary's own for an entry (measured on CPython 3.11, rounded up)."""


class VectorCache:
    """Least recently used texts are dropped when keys and vectors together exceed ``limit`` bytes.

    Not safe between threads: the owner holds a lock.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._vectors: OrderedDict[str, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def held(self) -> int:
        """Bytes held now."""
        return self._held

    def get(self, text: str) -> bytes | None:
        """Return the vector of ``text`` if it is still there, and mark it as used."""
        vector = self._vectors.get(text)
        if vector is not None:
            self._vectors.move_to_end(text)
        return vector

    def put(self, text: str, vector: bytes) -> None:
        """Keep ``vector``; drop the oldest until all fits."""
        if text in self._vectors:
            return
        self._vectors[text] = vector
        self._held += _size(text, vector)
        while self._held > self._limit:
            self._held -= _size(*self._vectors.popitem(last=False))


def _size(text: str, vector: bytes) -> int:
    return getsizeof(text) + getsizeof(vector) + _ENTRY
