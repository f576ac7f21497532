"""What any memory has to beat: recent turns, BM25 with stemming and dense search, over plain turns."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from infra.bench.question_sets import PlainTurn, Sample
from stages.ports import Embedder
from stages.text.similarity import dots
from stages.text.tokens import tokens

_K1, _B = 1.2, 0.75
"""BM25's customary constants (Robertson and Zaragoza 2009); a baseline is not tuned."""


def recent(sample: Sample) -> dict[str, list[str]]:
    """Rank the newest turns first, whatever is asked."""
    newest = [turn.turn_id for turn in reversed(sample.turns)]
    return {question.id: newest for question in sample.questions}


def bm25(sample: Sample) -> dict[str, list[str]]:
    """Rank the turns by BM25 over stems of "name: text"."""
    index = _Bm25([tokens(labelled(turn)) for turn in sample.turns])
    return {question.id: _ranked(sample, index.scores(tokens(question.question))) for question in sample.questions}


async def dense(sample: Sample, embedder: Embedder) -> dict[str, list[str]]:
    """Rank the turns by the dot product of the encoder's vectors of "name: text" and of the question.

    Raises:
        Unavailable: if the encoder does not answer.
    """
    vectors = await embedder.embed([labelled(turn) for turn in sample.turns])
    asked = await embedder.embed([question.question for question in sample.questions])
    return {
        question.id: _ranked(sample, dots(vector, vectors))
        for question, vector in zip(sample.questions, asked, strict=True)
    }


def labelled(turn: PlainTurn) -> str:
    """Return the turn as "name: text"."""
    return f"{turn.speaker}: {turn.text}"


def _ranked(sample: Sample, scores: Sequence[float]) -> list[str]:
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    return [sample.turns[index].turn_id for index in order]


class _Bm25:
    """Okapi BM25 over a few thousand short texts, exact."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        average = sum(map(len, texts)) / max(1, self._size) or 1.0
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, words in enumerate(texts):
            norm = _K1 * (1 - _B + _B * len(words) / average)
            for word, count in Counter(words).items():
                self._postings[word].append((row, count * (_K1 + 1) / (count + norm)))

    def scores(self, query: Sequence[str]) -> list[float]:
        """Return a score for each text."""
        total = [0.0] * self._size
        for word in query:
            postings = self._postings.get(word, ())
            weight = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, gain in postings:
                total[row] += weight * gain
        return total
