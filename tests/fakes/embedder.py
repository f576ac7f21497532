"""The ``Embedder`` port without a model: a vector is a digest of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from stages.contract import Unavailable


@dataclass
class DigestEmbedder:
    """``calls`` keeps the texts of each call of ``embed``; ``down`` makes it not answer."""

    dimension: int = 16
    calls: list[list[str]] = field(default_factory=list)
    down: bool = False

    @property
    def model(self) -> str:
        return f"digest-{self.dimension}"

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.down:
            msg = "the model does not answer"
            raise Unavailable(msg)
        self.calls.append(list(texts))
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> bytes:
        return (await self.embed([text]))[0]

    def _vector(self, text: str) -> bytes:
        return blake2b(text.encode(), digest_size=self.dimension).digest()
