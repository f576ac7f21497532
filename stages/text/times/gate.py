"""Where in a text a rule needs to be tried: around the words of time, and nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stages.text.times.context import Rule

# No expression reaches further than this from a word that it cannot be without.
_BACK: Final = 112
_AHEAD: Final = 80
_WORD: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = re.compile(r"[0-9]+")
# The signs that time is written with in Chinese and Japanese, where words are not set apart.
_HAN: Final = re.compile("[天日年月周週前]")
_TAIL: Final = re.compile(r"\w{0,32}")


def places(text: str, words: frozenset[str]) -> dict[str, list[int]]:
    """Return where each of ``words`` ends in ``text``, digits as ``"#"``, signs of time as ``"han"``.

    A text that has none costs one pass of the C matcher.
    """
    found: dict[str, list[int]] = {}
    if not words.isdisjoint(_WORD.findall(text.lower())):
        for match in _WORD.finditer(text):
            word = match[0].lower()
            if word in words:
                found.setdefault(word, []).append(match.end())
    digits = [match.end() for match in _DIGITS.finditer(text)]
    signs = [] if text.isascii() else [match.end() for match in _HAN.finditer(text)]
    return found | ({"#": digits} if digits else {}) | ({"han": signs} if signs else {})


def windows(each: Rule, where: dict[str, list[int]], text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of ``text``, apart and in order, in which ``each``, of which a word is there, can match."""
    start = end = -1
    for place in sorted(place for word in where.keys() & (each.also or each.words) for place in where[word]):
        if place - _BACK > end:
            if end > 0:
                yield start, _whole(text, end)
            start = max(0, place - _BACK)
        end = place + _AHEAD
    if end > 0:
        yield start, _whole(text, end)


def _whole(text: str, end: int) -> int:
    """Move ``end`` on to where a word ends, so that none is taken for a shorter one."""
    tail = _TAIL.match(text, end)
    return tail.end() if tail else len(text)
