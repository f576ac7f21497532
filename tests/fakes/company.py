"""A small encoder whose kernels show in every vector what real ones show in the last bits: the shape of the call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from infra.models.encoder import Encoder, Features

if TYPE_CHECKING:
    import torch


@dataclass
class _Tokenizer:
    pad_token_id: int = 0


@dataclass
class ShapedModel:
    """The parts of a sentence-transformers model that ``Encoder`` calls.

    A token is a character; a vector is the sum of its tokens, turned by the shape of the call. ``torch`` is the module.
    """

    torch: Any
    tokenizer: _Tokenizer = field(default_factory=_Tokenizer)
    device: str = "cpu"
    max_seq_length: int = 64
    truncate_dim: int | None = None
    borrowed: Lock = field(default_factory=Lock)
    shapes: list[tuple[int, ...]] = field(default_factory=list)

    def preprocess(self, texts: Sequence[str], **_: Any) -> Features:
        if not self.borrowed.acquire(blocking=False):
            msg = "already borrowed"
            raise RuntimeError(msg)
        try:
            time.sleep(0)  # lets another thread come in, if one may
            return self._features(texts)
        finally:
            self.borrowed.release()

    def _features(self, texts: Sequence[str]) -> Features:
        cut = [text[: self.max_seq_length] or " " for text in texts]
        longest = max(map(len, cut))
        ids = self.torch.tensor(
            [[ord(letter) % 97 + 1 for letter in text] + [0] * (longest - len(text)) for text in cut]
        )
        return {"input_ids": ids, "attention_mask": (ids > 0).long()}

    def __call__(self, features: Mapping[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        ids, mask = features["input_ids"], features["attention_mask"]
        self.shapes.append(tuple(ids.shape))
        rows, length = ids.shape
        angles = ids[:, :, None] * self.torch.arange(1, 17)
        pooled = (self.torch.sin(angles) * mask[:, :, None]).sum(dim=1)
        return {"sentence_embedding": self.torch.roll(pooled, rows + 3 * length, dims=1)}


class SmallEncoder(Encoder):
    """The real ``Encoder`` around a ``ShapedModel``."""

    def __init__(self) -> None:
        import torch  # noqa: PLC0415 - slow, and not every process that collects tests runs these

        self._torch = torch
        self._model: Any = ShapedModel(torch)
        self._tokens = Lock()
        self._prompt = self._query_prompt = None
        self.calls = 2
        self.dimension = 16
