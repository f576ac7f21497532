"""Which of several is meant: "the third one", "number 4", "the last step", "第三个"; digits of any script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stages.text.tokens import content_tokens

_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_CARDINALS = "one two three four five six seven eight nine ten eleven twelve".split()
HAN = "一二三四五六七八九十"
"""Chinese numerals, one to ten."""

GENERIC = frozenset(
    content_tokens(
        "one ones item step point option entry row line bullet suggestion thing element choice idea tip rule member "
        "part place position number recommendation"
    )
)
"""What the members of any list are called, as stems."""

_FROM_END = (
    r"(?:second|third|2nd|3rd)[\s-]+(?:to|from)[\s-]+(?:the\s+)?last|next\s+to\s+last|penultimate|very\s+last"
    r"|last|final"
)
_CALLED = "numbers? no\\.? nr\\.? \\# item step point option entry row line bullet suggestion".split()
_NUMBERED = rf"(?:{'|'.join(_CALLED)})\s*(?:\d{{1,3}}|{'|'.join(_CARDINALS)})\b"
ORDINAL = rf"\b(?:{_FROM_END}|{'|'.join(_WORDS)}|\d{{1,3}}(?:st|nd|rd|th))\b|{_NUMBERED}|\b\d{{1,3}}\b"
"""A pattern of what names a member of a list; without groups, so that it can be part of another."""

_END = re.compile(_FROM_END, re.IGNORECASE)
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d{1,3}")
_CARDINAL = re.compile(rf"\b(?:{'|'.join(_CARDINALS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ordinal:
    """Which member is meant: ``number`` from 1 on, or from the end where it is below 0.

    ``by_number``: it is what the list writes before the member ("number 4") rather than how many come before it.
    """

    number: int
    by_number: bool = False

    def index(self, count: int, numbers: Sequence[int] = ()) -> int | None:
        """Return the index of the member among ``count``, ``None`` where there is none; ``numbers`` as written."""
        if self.by_number and numbers:
            return numbers.index(self.number) if self.number in numbers else None
        at = count + self.number if self.number < 0 else self.number - 1
        return at if 0 <= at < count else None


def ordinal(words: str) -> Ordinal | None:
    """Return the ordinal that ``words`` (what ``ORDINAL`` matches) say."""
    from_end = _END.search(words)
    if from_end is not None:
        return Ordinal(_below(from_end[0].casefold()))
    word = _WORD.search(words)
    if word is not None:
        return Ordinal(_WORDS.index(word[0].casefold()) + 1)
    figure = _FIGURE.search(words)
    if figure is not None:
        number = int(figure[0])
        return Ordinal(number, by_number=not words[figure.end() :].casefold().startswith(("st", "nd", "rd", "th")))
    cardinal = _CARDINAL.search(words)
    return None if cardinal is None else Ordinal(_CARDINALS.index(cardinal[0].casefold()) + 1, by_number=True)


def counted(heading: str) -> frozenset[str]:
    """Return the stems of what a list with this heading is of, so that "the last café" is one of "Cafés to try"."""
    stems = content_tokens(heading)
    return frozenset(stems) | {stem.removesuffix("s") for stem in stems}  # stems of English keep the s of "cafés"


def _below(words: str) -> int:
    if words.startswith(("second", "2nd", "next", "penultimate")):
        return -2
    return -3 if words.startswith(("third", "3rd")) else -1


_NTH = re.compile(rf"第\s*([{HAN}]{{1,3}}|\d{{1,3}})")


def nth(text: str) -> Ordinal | None:
    """Return the ordinal of a text in Chinese or Japanese ("第三个"), in Chinese numerals or digits of any script."""
    found = _NTH.search(text)
    return None if found is None or not han(found[1]) else Ordinal(han(found[1]))


def han(digits: str) -> int:
    """Return a number below a hundred that is written in Chinese numerals or in digits of any script; 0 for others."""
    if digits.isdecimal():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    if not ten:
        return HAN.find(digits) + 1 if len(digits) == 1 else 0
    return (HAN.find(tens) + 1 if tens else 1) * 10 + (HAN.find(ones) + 1 if ones else 0)
