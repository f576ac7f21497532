"""The ``Embedder`` port on a sentence-transformers model; concurrent calls are merged by one pool of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from infra.models.encoder import Encoder
from infra.models.location import locate
from infra.models.pool import EncoderPool

_CACHE: Final = 64 * 1024 * 1024
"""About 75,000 turns of 200 characters: more than all lanes keep in flight, so a text is encoded once in practice."""


class SentenceTransformerEmbedder:
    """Bit-stable int8 vectors of a model given by folder or name. The model loads at the first text.

    ``device`` defaults to CUDA where there is one, else the CPU; ``threads`` to torch's choice. Vectors are stable
    bit for bit on one machine with the same device; past eight threads also with the same number of them.

    Raises:
        ModelMissing: if the model is not here and cannot be fetched.
    """

    def __init__(
        self, name: str, *, device: str | None = None, threads: int | None = None, cache_bytes: int = _CACHE
    ) -> None:
        where = locate(name)
        self._model = f"{where.name}@{where.revision}"
        self._dimension = where.dimension
        self._pool = EncoderPool(lambda: Encoder(where, device, threads), cache_bytes)

    @property
    def model(self) -> str:
        """Name and revision: the digest of configuration and weights."""
        return self._model

    @property
    def dimension(self) -> int:
        """Bytes of a vector; loads the model where its configuration does not say."""
        if self._dimension is None:
            self._dimension = len(self._pool.submit_query("").result())
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, in order.

        Raises:
            Unavailable: if memory for the model ran out, or the embedder is closed.
            ModelMissing: if the model's files turn out not to be complete.
        """
        if not texts:
            return []
        return await asyncio.wrap_future(self._pool.submit(tuple(texts)))

    async def embed_query(self, text: str) -> bytes:
        """Return the vector of one text ahead of all bulk work, behind at most one running call.

        It may differ from the one of ``embed`` in a few components by one (another shape), and by the model's prompt
        for queries where it has one.
        """
        return await asyncio.wrap_future(self._pool.submit_query(text))

    def free_batches(self, texts: Sequence[str]) -> float:
        """Return the seconds that the model takes for these texts by its own batching (a yardstick: not bit-stable)."""
        return self._pool.loaded().free_batches(texts)

    def close(self) -> None:
        """Stop after the running calls; who still waits gets ``Unavailable``."""
        self._pool.close()
