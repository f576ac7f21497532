"""Vectors from hashed tokens: equal words, near vectors. For tests and load only; it knows no meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stages.text.tokens import tokens

DIMENSION: Final = 384
"""Bytes of a vector where nothing else is asked for."""

_BLOCK: Final = 64  # greatest digest of blake2b, in bytes
_LENGTH: Final = 127.0
_KEPT: Final = 1024  # characters: 8,192 texts and vectors are 12 MB at most
_TURN_OF_LOOP: Final = 512  # texts between two chances for other tasks, about 20 ms


@lru_cache(maxsize=32768)  # 16 MB; natural text repeats its words
def _projection(token: str, dimension: int) -> bytes:
    """Return ``dimension`` bytes that are uniform in int8 and belong to this token."""
    data = token.encode("utf-8", "surrogatepass")
    blocks = range(-(-dimension // _BLOCK))
    return b"".join(blake2b(data, digest_size=_BLOCK, salt=bytes([block])).digest() for block in blocks)[:dimension]


def _vector(text: str, dimension: int) -> bytes:
    return _kept(text, dimension) if len(text) <= _KEPT else _summed(text, dimension)


@lru_cache(maxsize=8192)
def _kept(text: str, dimension: int) -> bytes:
    return _summed(text, dimension)


def _summed(text: str, dimension: int) -> bytes:
    found = tokens(text) or [text]
    each = b"".join(_projection(token, dimension) for token in found)
    rows: NDArray[np.int8] = np.frombuffer(each, dtype=np.int8)
    total = rows.reshape(len(found), dimension).sum(axis=0, dtype=np.int32).astype(np.float64)  # exact
    length = np.sqrt(total @ total)
    scaled: NDArray[np.int8] = np.rint(total * (_LENGTH / length)).astype(np.int8)
    return scaled.tobytes()


@dataclass(frozen=True, slots=True)
class HashEmbedder:
    """The sum of a pseudo-random int8 vector for each token, scaled to length 127. ``size`` is bytes of a vector."""

    size: int = DIMENSION

    @property
    def model(self) -> str:
        """The name; the number rises when the vectors of a text change. Another size is another model."""
        return "hash@2" if self.size == DIMENSION else f"hash:{self.size}@2"

    @property
    def dimension(self) -> int:
        """Bytes of a vector."""
        return self.size

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector of int8 for each text, in order."""
        vectors: list[bytes] = []
        for start in range(0, len(texts), _TURN_OF_LOOP):
            vectors.extend(_vector(text, self.size) for text in texts[start : start + _TURN_OF_LOOP])
            await asyncio.sleep(0)
        return vectors

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of one text, the same as ``embed`` gives."""
        return _vector(text, self.size)

    def close(self) -> None:
        """Nothing is held."""
