"""How the speaker feels, by a sentiment lexicon (AdaMem E.1).

The lexicon is VADER's (English words and emoji of any language; MIT), which gives texts of other languages without
emoji no attitude. It takes quadratic time, so it is asked sentence by sentence, and for the first of them only.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from schemas.normalized import Attitude

_MOST = 24
_LONGEST = 400
"""Sentences asked for and characters of each: what a person says in a turn, and no more of a pasted document."""

_FELT = 300
"""Thousandths of VADER's compound score; its authors' 50 calls every "nice" and "hi there" an attitude."""


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()


def attitude(sentences: Sequence[str]) -> Attitude:
    """Return the attitude of a turn from its sentences: mixed if some are positive and some negative."""
    scores = [_score(sentence[:_LONGEST]) for sentence in sentences[:_MOST]]
    positive, negative = max(scores, default=0) >= _FELT, min(scores, default=0) <= -_FELT
    if positive and negative:
        return Attitude.MIXED
    return Attitude.POSITIVE if positive else Attitude.NEGATIVE if negative else Attitude.NONE


def _score(sentence: str) -> int:
    if not _may_feel(sentence):
        return 0
    compound: float = _analyzer().polarity_scores(sentence)["compound"]
    return round(1000 * compound)


def _may_feel(sentence: str) -> bool:
    """Tell whether a sentence has a word or an emoticon that VADER knows; two sentences in five don't.

    To look takes a tenth of the time of a score, which is 0 without one. Any sign beyond ASCII may be an emoji.
    """
    words = sentence.lower().split()
    bare = [word.strip(string.punctuation) for word in words]
    return not sentence.isascii() or not _analyzer().lexicon.keys().isdisjoint(words + bare)
