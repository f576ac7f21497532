"""A small honest encoder: deterministic vectors, buckets by length, a record of its calls."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from hashlib import blake2b

from infra.models.encoder import Prepared


class FakeEncoder:
    """Vectors are digests. A text that contains ``odd`` can't be encoded; ``gate`` holds calls up while it is clear."""

    dimension = 16

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        return [Prepared({"text": text}, 16 * (1 + len(text) // 16)) for text in texts]

    def encode(self, rows: Sequence[Prepared]) -> list[bytes]:
        texts = [row.features["text"] for row in rows]
        self.calls.append(texts)
        self.entered.set()
        assert self.gate.wait(30)
        if any("odd" in text for text in texts):
            msg = "odd text"
            raise RuntimeError(msg)
        return [self.vector(text) for text in texts]

    def query(self, text: str) -> bytes:
        self.calls.append([f"query: {text}"])
        return self.vector(text)

    @staticmethod
    def vector(text: str) -> bytes:
        return blake2b(text.encode(), digest_size=16).digest()
