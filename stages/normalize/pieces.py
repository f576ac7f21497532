"""Cutting an over-long text into stable pieces that the encoder can read whole (mechanics, normalize 1)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from schemas.span import Span
from stages.text.sentences import sentence_bounds, trimmed

_BOUND = 2500
"""Cost of a piece. Small encoders read 256 word pieces; English prose has 4 to 5 characters a word piece, so that
830 letters are about 190 of them, and 250 characters of Han, figures or signs at most 250."""

_LETTER = 3
_OTHER = 10
"""Cost of a plain Latin letter or space, and of everything else, which can be a word piece by itself."""


def cut(text: str) -> tuple[Span, ...]:
    """Return the spans of the pieces of ``text``, in order, covering all that is not white space.

    A short text is one piece. A longer one is cut at the last sentence end that fits, else at the last word end, else
    hard; never in the first half of what fits, so that pieces are not tiny. The cut depends on the text alone.
    """
    if len(text) * _OTHER <= _BOUND or _total(text) <= _BOUND:
        windows: Iterator[tuple[int, int]] = iter([(0, len(text))])
    else:
        windows = _windows(text)
    bounds = (trimmed(text, start, end) for start, end in windows)
    return tuple(Span(start=found[0], end=found[1]) for found in bounds if found is not None)


def _total(text: str) -> int:
    others = len(text.translate(_LETTERS))
    return _LETTER * (len(text) - others) + _OTHER * others


def _windows(text: str) -> Iterator[tuple[int, int]]:
    costs = list(accumulate(map(_cost, text), initial=0))
    ends = [end for _, end in sentence_bounds(text)]
    start = 0
    while start < len(text):
        furthest = bisect_right(costs, costs[start] + _BOUND) - 1
        end = len(text) if furthest >= len(text) else _best_end(text, ends, start, furthest)
        yield start, end
        start = end


def _best_end(text: str, ends: Sequence[int], start: int, furthest: int) -> int:
    floor = start + (furthest - start) // 2
    sentence = ends[bisect_right(ends, furthest) - 1] if ends and ends[0] <= furthest else 0
    if sentence > floor:
        return sentence
    return _last(text, floor, furthest, space=True) or _last(text, floor, furthest, space=False) or furthest


def _last(text: str, floor: int, furthest: int, *, space: bool) -> int:
    """Return the last place in ``(floor, furthest]`` before white space, or before a new character; 0 if none."""
    for place in range(furthest, floor, -1):
        if text[place].isspace() if space else _begins(text, place):
            return place
    return 0


def _begins(text: str, place: int) -> bool:
    joined = text[place] == "\u200d" or text[place - 1] == "\u200d" or "\ufe00" <= text[place] <= "\ufe0f"
    return not joined and not unicodedata.combining(text[place])


@lru_cache(maxsize=4096)
def _cost(char: str) -> int:
    return _LETTER if char.isascii() and (char.isalpha() or char.isspace()) else _OTHER


_LETTERS = dict.fromkeys(code for code in range(128) if _cost(chr(code)) == _LETTER)
"""To count what is left without them takes a tenth of the time of adding up costs."""
