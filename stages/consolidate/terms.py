"""The terms of a statement in one canonical form: what must be equal where two statements are to be one record.

Case, spacing, closing punctuation, contractions and the way that a number is written do not matter; signs that tell
things apart (C and C++, 5 and -5, € and $) do. Scripts without spaces are read a character at a time.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from stages.consolidate.vocabulary import NEGATIONS, ONES, SCALES, TENS
from stages.text.times.words import MONTHS, WEEKDAYS
from stages.text.tokens import MARKS, STOP, UNSPACED, folded

_LETTERS = rf"(?:(?![{UNSPACED}])[^\W\d])(?:(?![{UNSPACED}])[\w{MARKS}])*"
_TERM = re.compile(
    rf"(?P<number>(?:(?<![\w.,])[-\u2212](?=\d))?\d+(?:[.,:/\u2044]\d+)*)"
    rf"|(?P<unspaced>[{UNSPACED}])"
    rf"|(?P<word>{_LETTERS}(?:['\u2019]{_LETTERS})*)"
    r"|(?P<grade>(?<=\b\w)[-+](?!\w))"
    r"|(?P<sign>[^\w\s])"
)
_TELLING = frozenset("%#@/&*?°§")
"""Signs of punctuation that tell things apart; so do all of currency and arithmetic."""

_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?![\d,])")
_NOT = re.compile(r"(?P<verb>[a-z]+)n't|(?P<bare>do|does|did|is|are|was|were|has|have|had|ca|wo|would|could|should)nt")
"""Also as it is typed in a chat ("cant", "doesnt")."""

_SHORTENED = {"wo": "will", "ca": "can", "sha": "shall"}
_FULL = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_JOINED = {"cannot": ("can", "not"), "an": ("a",)}
ON = "on"
"""The word that a date or a day may have before it, and the gap that stands for it."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term: ``text`` canonical; ``capital`` is whether it is written as a name, ``None`` where that says nothing.

    ``gap`` is the punctuation between it and the term before.
    """

    text: str
    is_number: bool = False
    capital: bool | None = None
    gap: str = ""

    @property
    def is_content(self) -> bool:
        """Whether it says something by itself: numbers and signs do, function words of English do not."""
        return self.text not in STOP or self.text in NEGATIONS

    def says(self, other: Term) -> bool:
        """Tell whether both are one term; "Polish" and "polish" are two."""
        unknown = self.capital is None or other.capital is None
        return self.text == other.text and (unknown or self.capital == other.capital)


@lru_cache(maxsize=4096)
def terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in order."""
    clean = unicodedata.normalize("NFKC", text)
    cased = not (clean.islower() or clean.isupper())
    found: list[Term] = []
    gap = ""
    for match in _TERM.finditer(clean):
        made = _made(match, is_cased=cased and bool(found) and not _begins(gap))
        if not made:
            gap += match.group()
        for one in made:
            found.append(Term(one.text, one.is_number, one.capital, gap))
            gap = ""
    return tuple(_dated(_counted(found)))


def _begins(gap: str) -> bool:
    """Tell whether a sentence begins behind this punctuation, where a capital says nothing."""
    return any(sign in gap for sign in ".!?\u2026\u3002:")


def _made(match: re.Match[str], *, is_cased: bool) -> tuple[Term, ...]:
    raw = match.group()
    match match.lastgroup:
        case "number":
            return (Term(_number(raw), is_number=True),)
        case "word":
            capital = raw[0].isupper() if is_cased and raw[0].lower() != raw[0].upper() else None
            return tuple(Term(word, capital=capital) for word in _words(folded(raw)))
        case "sign" if raw not in _TELLING and unicodedata.category(raw) not in {"Sc", "Sm"}:
            return ()
        case _:
            return (Term(raw),)


def _number(raw: str) -> str:
    plain = raw.replace(",", "") if _THOUSANDS.fullmatch(raw) else raw.replace("\u2212", "-")
    return "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in plain)


def _words(word: str) -> tuple[str, ...]:
    """Return a case-folded word without contraction."""
    denied = _NOT.fullmatch(word)
    if denied:
        verb = denied["verb"] or denied["bare"]
        return (_SHORTENED.get(verb, verb), "not")
    for ending, full in _FULL.items():
        if word.endswith(ending):
            return (word.removesuffix(ending), full)
    return _JOINED.get(word, (word,))


def _counted(found: list[Term]) -> list[Term]:
    """Return the terms with numbers in figures: "twenty-five" as "25", "two hundred" as "200"."""
    made: list[Term] = []
    for term in found:
        last = made[-1] if made and made[-1].is_number and not term.gap.strip("-") else None
        if term.text in SCALES and last is not None and last.text.isdigit():
            made[-1] = Term(str(int(last.text) * SCALES[term.text]), is_number=True, gap=last.gap)
        elif term.text in ONES and last is not None and last.capital is not None and ONES[term.text] < _TEN:
            made[-1] = Term(str(int(last.text) + ONES[term.text]), is_number=True, gap=last.gap)
        elif term.text in ONES or term.text in TENS:
            value = ONES[term.text] if term.text in ONES else TENS[term.text]
            made.append(Term(str(value), is_number=True, capital=False if term.text in TENS else None, gap=term.gap))
        else:
            made.append(term)
    return [Term(one.text, is_number=True, gap=one.gap) if one.is_number else one for one in made]


_TEN = 10


def _dated(found: list[Term]) -> list[Term]:
    """Return the terms without the "on" of a date or day, which stays as a gap: "is on 9 May" is "is 9 May"."""
    made: list[Term] = []
    led = False
    for term, after in zip(found, [*found[1:], Term("")], strict=False):
        is_on = term.text == ON and (after.text in MONTHS or after.text in WEEKDAYS or _is_day(after, found))
        if not is_on:
            made.append(replace(term, gap=f"{term.gap}{ON}") if led else term)
        led = is_on
    return made


def _is_day(term: Term, found: list[Term]) -> bool:
    return term.is_number and any(one.text in MONTHS for one in found)
