"""The ``Reranker`` port on a cross-encoder of sentence-transformers, in process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from infra.errors import ModelMissing
from infra.models.encoder import Encoder, Features
from infra.models.endpoint import sendable
from infra.models.location import Location, locate
from infra.models.pool import EncoderPool
from stages.contract import Unavailable

if TYPE_CHECKING:
    import torch

_UNIT: Final = 1000
_LARGEST: Final = 1_000_000
"""Beyond this, which is far from any logit, what comes is no score (and no int32 in thousandths)."""
_CACHE: Final = 8 * 1024 * 1024
"""Scores of some ten thousand pairs: a question that is asked again costs nothing."""
_INT: Final = np.dtype("<i4")


class PairEncoder(Encoder):
    """Scores pairs as ``Encoder`` embeds texts: in calls of fixed rows, so that a score is the pair's alone.

    A pair is given as one text (``_as_text``), a score is four bytes.
    """

    @staticmethod
    def _read(where: Location, device: str) -> Any:  # noqa: ANN401 - as the base class
        from sentence_transformers import CrossEncoder  # noqa: PLC0415 - seconds to import; only who scores pays them

        model = CrossEncoder(str(where.folder), device=device, local_files_only=True)
        if model.num_labels != 1:
            reason = f"it gives {model.num_labels} scores a pair, and a reranker gives one"
            raise ModelMissing(where.name, reason, "name a cross-encoder for reranking in ANABRANCH_RERANKER")
        return model

    def _features(self, texts: Sequence[str], prompt: str | None, task: str) -> Features:  # noqa: ARG002 - the base's
        with self._tokens:
            features: Features = self._model.preprocess([_pair(text) for text in texts], prompt=prompt)
        return features

    def _forward(self, features: Features, task: str) -> torch.Tensor:  # noqa: ARG002
        out: torch.Tensor = self._model(features)["scores"]
        return out.reshape(-1, 1)

    def _spelled(self, row: NDArray[np.float64]) -> bytes:
        if not (np.abs(row) <= _LARGEST).all():  # false for what is no number, too
            msg = "the reranker gives no finite scores: see to its files and to the device"
            raise Unavailable(msg)
        return np.rint(row * _UNIT).astype(_INT).tobytes()


class CrossEncoderReranker:
    """Scores by a cross-encoder with one label, given by folder or name. It loads at the first pair.

    Concurrent questions share calls, and a pair that is asked again is not scored again.

    Raises:
        ModelMissing: if the model is not here and cannot be fetched.
    """

    def __init__(self, name: str, *, device: str | None = None, threads: int | None = None) -> None:
        where = locate(name)
        self._model = f"{where.name}@{where.revision}"
        self._pool = EncoderPool(lambda: PairEncoder(where, device, threads), _CACHE)

    @property
    def model(self) -> str:
        """Name and revision: the digest of configuration and weights."""
        return self._model

    async def score(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return a score for each text, in thousandths of a logit.

        Raises:
            Unavailable: if memory for the model ran out, or the reranker is closed.
            ModelMissing: if the model's files are not complete, or it is no cross-encoder with one label.
        """
        if not texts:
            return []
        pairs = tuple(_as_text(sendable(query), sendable(text)) for text in texts)
        scores = await asyncio.wrap_future(self._pool.submit(pairs))
        return [int(np.frombuffer(score, _INT)[0]) for score in scores]

    def close(self) -> None:
        """Stop after the running calls; who still waits gets ``Unavailable``."""
        self._pool.close()


def _as_text(query: str, text: str) -> str:
    return f"{len(query)} {query}{text}"


def _pair(text: str) -> tuple[str, str]:
    """Return the pair that was written as a text; the empty text, by which an encoder is tried, is two of them."""
    length, _, rest = text.partition(" ")
    end = int(length or "0")
    return rest[:end], rest[end:]
