"""A second opinion on the best candidates, each read as a whole beside the question (a cross-encoder)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.memory import RecordRow
from stages.contract import Unavailable
from stages.ports import Reranker
from stages.recall.candidate import Candidate
from stages.recall.scale import Scale

RERANKED = 50
"""Candidates judged, the best by all retrievers: five times the usual k, and some calls of fixed rows for a model."""

_WEIGHT = 4
"""Its deviations count as those of the four retrievers together: it reads question and evidence at once.

Chosen, not measured: no trained cross-encoder could be had where this was built.
"""

_NAME = "reranker"


async def reranked(
    reranker: Reranker | None, question: str, candidates: Sequence[Candidate], rows: Mapping[str, RecordRow]
) -> tuple[Sequence[Candidate], tuple[str, ...]]:
    """Return the candidates with the reranker's opinion in their scores, and what was left out for want of an answer.

    Those that it did not judge are given no more than the least of what it judged. Without a reranker, or without
    its answer, all stay as they are.
    """
    judged = [one for one in candidates if one.shown in rows][:RERANKED]
    if reranker is None or not judged:
        return candidates, ()
    try:
        scores = await reranker.score(question, [_said(rows[one.shown]) for one in judged])
    except Unavailable:
        return candidates, (_NAME,)
    scale = Scale.of(scores)
    given = {one.turn_id: _WEIGHT * scale(score) for one, score in zip(judged, scores, strict=True)}
    least = min(given.values())
    return [one.plus(_NAME, given.get(one.turn_id, least)) for one in candidates], ()


def _said(row: RecordRow) -> str:
    """Return what a record says, with its speaker: a question is often about who said it."""
    if row.speaker is None or row.text.startswith(f"{row.speaker.label}:"):
        return row.text
    return f"{row.speaker.label}: {row.text}"
