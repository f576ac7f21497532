"""Guesses at recall: what history suggests ranks below all that somebody said (mechanics, extract_per_view 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.memory import RecordRow
from stages.recall.pool import Candidate, ranked


def plain_first(candidates: Sequence[Candidate], rows: Mapping[str, RecordRow]) -> list[Candidate]:
    """Return the candidates best first, those that a tentative item stands for below all others, in their order."""
    guesses = [one for one in candidates if rows[one.shown].rests_on is not None]
    if not guesses:
        return list(candidates)
    plain = [one for one in candidates if rows[one.shown].rests_on is None]
    ceiling = min((one.score for one in plain), default=guesses[0].score) - 1
    too_high = max(0, max(one.score for one in guesses) - ceiling) if plain else 0
    return ranked([*plain, *(one.plus("tentative", -too_high) for one in guesses)])
