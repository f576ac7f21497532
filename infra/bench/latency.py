"""How long a recall takes, as a multiple of what embedding its question takes, in one run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from infra.bench.question_sets import Sample
from infra.memory_api import Memory
from schemas.recall import Question
from schemas.space import Space
from stages.ports import Embedder

_WARM = 10
"""Questions asked before, not counted: the first ones read what a process that runs has read long ago."""

ASKED = _WARM + 50
"""Questions of each measure: enough for a median."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Medians in ms over the questions of a space of ``turns`` turns."""

    turns: int
    recall: float
    embedding: float

    def __str__(self) -> str:
        """Return the ratio, and what it was measured on."""
        return (
            f"recall p50 {self.recall:.1f} ms at k=10 in a space of {self.turns} turns, one query embedding "
            f"{self.embedding:.1f} ms: ratio={self.recall / self.embedding:.2f}"
        )


async def latency(memory: Memory, samples: list[Sample], embedder: Embedder) -> Latency:
    """Ask the largest space questions that no cache knows, each beside the embedding of another unknown text."""
    largest = max(samples, key=lambda sample: len(sample.turns))
    asked = [(Space(largest.space), one.question) for one in largest.questions[:ASKED]]
    return await latency_of(memory, asked, embedder, len(largest.turns))


async def latency_of(memory: Memory, asked: Sequence[tuple[Space, str]], embedder: Embedder, turns: int) -> Latency:
    """Ask these questions of their spaces of ``turns`` turns, each beside the embedding of another unknown text."""
    recalls, embeddings = list[float](), list[float]()
    for number, (space, question) in enumerate(asked):
        began = time.perf_counter()  # noqa: TID251 - a benchmark measures
        await memory.recall(space, Question(question=f"{question} ({number})", k=10))
        between = time.perf_counter()  # noqa: TID251
        await embedder.embed_query(f"{question} [{number}]")
        recalls.append(between - began)
        embeddings.append(time.perf_counter() - between)  # noqa: TID251
    return Latency(turns, 1000 * _warm(recalls), 1000 * _warm(embeddings))


def _warm(seconds: list[float]) -> float:
    return median(seconds[_WARM:] or seconds)
