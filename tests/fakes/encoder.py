"""A small honest encoder: deterministic vectors, buckets by length, a record of its calls."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from hashlib import blake2b

from infra.models.encoder import Prepared


class FakeEncoder:
    """Vectors are digests. A text that contains ``odd`` can't be encoded; ``gate`` holds calls up while it is clear,
    ``tokenizer`` what comes before them."""

    dimension = 16

    def __init__(self, calls: int = 1) -> None:
        self.calls = calls
        self.seen: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.tokenizer = threading.Event()
        self.tokenizer.set()

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        assert self.tokenizer.wait(30)
        return [Prepared({"text": text}, 16 * (1 + len(text) // 16)) for text in texts]

    def encode(self, rows: Sequence[Prepared]) -> list[bytes]:
        texts = [row.features["text"] for row in rows]
        self.seen.append(texts)
        self.entered.release()
        assert self.gate.wait(30)
        if any("odd" in text for text in texts):
            msg = "odd text"
            raise RuntimeError(msg)
        return [self.vector(text) for text in texts]

    def query(self, text: str) -> bytes:
        self.seen.append([f"query: {text}"])
        return self.vector(text)

    @staticmethod
    def vector(text: str) -> bytes:
        return blake2b(text.encode(), digest_size=16).digest()
