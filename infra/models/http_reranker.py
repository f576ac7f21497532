"""The ``Reranker`` port on a ``/rerank`` endpoint, as vLLM, Jina, Cohere and llama.cpp serve it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeGuard

from infra.address import Address
from infra.models.endpoint import Endpoint, RefusedError, sendable
from stages.contract import Unavailable

UNIT: Final = 1000
"""A score is in thousandths of a logit."""
_SURE: Final = 1e-9
"""Probabilities are read no nearer to 0 and 1 than this, 21 logits: beyond it floats tell nothing apart."""
_CALLS: Final = 4
_LARGEST: Final = 1_000_000
"""Beyond this, which is far from any logit, what comes is no score."""


class HttpReranker:
    """Scores of a cross-encoder that is served elsewhere, one request a query.

    Most servers give probabilities, some logits. An answer with a score outside of 0 to 1 is read as logits, any other
    as probabilities; the order within an answer is right either way.
    """

    def __init__(self, name: str, key: str | None = None, *, answer_s: float = 30.0) -> None:
        self._endpoint = Endpoint(Address.read(name), key, answer_s)
        self._threads = ThreadPoolExecutor(_CALLS, "anabranch-reranker")

    @property
    def model(self) -> str:
        """The name by which the endpoint knows the model."""
        return self._endpoint.address.model

    async def score(self, query: str, texts: Sequence[str]) -> list[int]:
        """Return a score for each text, in thousandths of a logit.

        Raises:
            Unavailable: if the endpoint does not answer, or with something else than a score for each.
        """
        if not texts:
            return []
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._scored, query, texts)
        except RefusedError as error:  # recall goes on without scores
            raise Unavailable(str(error)) from error
        except RuntimeError as error:  # after close
            self._endpoint.unfit(str(error))

    def close(self) -> None:
        """Let go of the connections; who still waits is cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._endpoint.close()

    def _scored(self, query: str, texts: Sequence[str]) -> list[int]:
        documents = [sendable(text) for text in texts]
        asked = {"model": self.model, "query": sendable(query), "documents": documents, "top_n": len(documents)}
        answer = self._endpoint.post("rerank", asked)
        scores = self._scores(answer.get("results") if isinstance(answer, dict) else None, len(texts))
        are_logits = any(not 0 <= score <= 1 for score in scores)
        return [round(UNIT * (score if are_logits else logit(score))) for score in scores]

    def _scores(self, results: Any, count: int) -> list[float]:  # noqa: ANN401 - JSON
        rows = [row for row in results if isinstance(row, dict)] if isinstance(results, list) else []
        by_index = {row.get("index"): row.get("relevance_score") for row in rows if type(row.get("index")) is int}
        scores = [by_index.get(index) for index in range(count)]
        fit = [float(score) for score in scores if _is_score(score)]
        if len(rows) != count or len(fit) != count:
            self._endpoint.unfit(f"{count} texts were sent, and scores for {len(fit)} of them came back")
        return fit


def _is_score(given: object) -> TypeGuard[int | float]:
    """Tell whether it is a number of no absurd size; truths are none, though Python counts them among them."""
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= _LARGEST


def logit(probability: float) -> float:
    """Return the logit of a probability, which is kept ``_SURE`` away from 0 and 1."""
    kept = min(max(probability, _SURE), 1 - _SURE)
    return math.log(kept) - math.log1p(-kept)
