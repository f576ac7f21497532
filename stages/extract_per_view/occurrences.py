"""Where a text has the words of a quote, whatever its white space and the case of its letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from schemas.span import Span
from stages.extract_per_view.standalone import clipped
from stages.text.tokens import splits_word

_LEAST: Final = 3
"""Characters of a quote that is more than a letter found anywhere."""


def occurrences(text: str, quote: str) -> Iterator[Span]:
    """Yield where ``text`` says ``quote``, whole words only: "eat" is not in "weather". The very letters come first."""
    words = quote.split()
    if not words or sum(map(len, words)) < min(_LEAST, len(text.strip())):
        return
    for pattern in _patterns(words):
        for match in pattern.finditer(text):
            if not (splits_word(text, match.start()) or splits_word(text, match.end())):
                yield clipped(text, Span(start=match.start(), end=match.end()))


def _patterns(words: Sequence[str]) -> Iterator[re.Pattern[str]]:
    same = r"\s+".join(map(re.escape, words))
    yield re.compile(same)
    yield re.compile(same, re.IGNORECASE)
