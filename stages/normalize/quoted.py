"""Where a quotation stands in a text: exactly, or but for white space and the form of quotation marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from schemas.span import Span

_SINGLE = "'\u2018\u2019\u201a\u201b\u2032`\u00b4"
_DOUBLE = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033'
_MARKS = {mark: f"[{re.escape(marks)}]" for marks in (_SINGLE, _DOUBLE) for mark in marks}
_AROUND = f"{_SINGLE}{_DOUBLE}\u2026. \t\n"
"""What models put around a quotation of their own accord."""


def located(text: str, quote: str) -> Span | None:
    """Return the first place of ``quote`` in ``text`` that cuts no word in two; ``None`` if it is not there.

    A quotation without a letter or a digit is nowhere.
    """
    said = quote.strip()
    tries = ((said, re.escape), (said, _tolerant), (said.strip(_AROUND), _tolerant))
    return next((span for words, pattern in tries if (span := _found(text, words, pattern)) is not None), None)


def _found(text: str, quote: str, pattern: Callable[[str], str]) -> Span | None:
    if not any(char.isalnum() for char in quote):
        return None
    places = (match.span() for match in re.finditer(pattern(quote), text))
    return next((Span(start=start, end=end) for start, end in places if _whole(text, start, end)), None)


def _tolerant(quote: str) -> str:
    runs = groupby(quote, key=str.isspace)
    return "".join(r"\s+" if blank else "".join(map(_letter, run)) for blank, run in runs)


def _letter(char: str) -> str:
    return _MARKS.get(char) or re.escape(char)


def _whole(text: str, start: int, end: int) -> bool:
    """Tell whether ``[start, end)`` begins and ends at word bounds, as far as the script shows them."""
    return not (_joined(text, start) or _joined(text, end))


def _joined(text: str, place: int) -> bool:
    return 0 < place < len(text) and _in_word(text[place - 1]) and _in_word(text[place])


def _in_word(char: str) -> bool:
    """Tell whether a character is of a script that divides words by space: one with capitals, or a digit."""
    return char.isdigit() or char.lower() != char.upper()
