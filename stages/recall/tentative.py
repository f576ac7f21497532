"""Guesses at recall: what history suggests ranks below all that somebody said (mechanics, extract_per_view 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schemas.memory import RecordRow
from stages.recall.candidate import Candidate, ranked


def unguessed(candidates: Sequence[Candidate], rows: Mapping[str, RecordRow]) -> list[Candidate]:
    """Return the candidates best first, a turn that was found without its guess too shown and scored by the rest.

    What somebody said is no less evidence for what is suggested of it.
    """
    if not any(_is_guess(one, rows) for one in candidates):
        return list(candidates)
    return ranked(_plain(one, rows) if _is_guess(one, rows) else one for one in candidates)


def _is_guess(one: Candidate, rows: Mapping[str, RecordRow]) -> bool:
    return one.shown in rows and rows[one.shown].rests_on is not None


def _plain(one: Candidate, rows: Mapping[str, RecordRow]) -> Candidate:
    other = one.instead
    if other is None or other.record_id not in rows:
        return one
    plain = replace(one, shown=other.record_id, anchored=other.anchored, item=None, instead=None)
    return plain.plus("tentative", -other.loss)


def plain_first(candidates: Sequence[Candidate], rows: Mapping[str, RecordRow]) -> list[Candidate]:
    """Return the candidates best first, those that a tentative item stands for below all others, in their order."""
    guesses = [one for one in candidates if rows[one.shown].rests_on is not None]
    if not guesses:
        return list(candidates)
    plain = [one for one in candidates if rows[one.shown].rests_on is None]
    ceiling = min((one.score for one in plain), default=guesses[0].score) - 1
    too_high = max(0, max(one.score for one in guesses) - ceiling) if plain else 0
    return ranked([*plain, *(one.plus("tentative", -too_high) for one in guesses)])
