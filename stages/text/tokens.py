"""Script-aware tokens: stems where words have spaces between them, n-grams where they have none.

Hangul is cut into n-grams too: its words have spaces, but their particles are written to them. A word goes on through
the marks that stand for its vowels (Devanagari and its kin); the points that Arabic and Hebrew may leave out are.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"  # Hangul
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
"""Characters of scripts that are written without spaces, as a class of a pattern."""

MARKS = "".join(sign for sign in map(chr, range(0x300, 0xFE30)) if unicodedata.category(sign) in {"Mn", "Mc"})
"""Signs that belong to the letter before them."""

_LETTERS = rf"(?:(?![{UNSPACED}])\w)(?:(?![{UNSPACED}])[\w{MARKS}])*"
_TOKEN = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?P<word>{_LETTERS}(?:['\u2019]{_LETTERS})*)")
_ASCII = re.compile(r"(?P<unspaced>(?!))|(?P<word>\w+(?:'\w+)*)", re.ASCII)
"""The same for plain text, in two thirds of the time."""

_IN_WORD = re.compile(rf"(?![{UNSPACED}])[\w{MARKS}]")

_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"  # Arabic, and its long stroke
)
_ENGLISH = re.compile(r"[a-z']+")
STOP = frozenset(
    "a an the and or but if of to in on at by for with from as is are was were be been being am do does did done "
    "have has had i you he she it we they me him her us them my your his its our their this that these those there "
    "here so not no yes can could will would shall should may might must just than then too very what which who "
    "whom when where why how all any some such own same s t d ll m re ve don didn doesn isn aren wasn weren".split()
)
"""Function words of English: no content of their own, so neither keywords nor overlap counts them."""

_KEPT = 1024
"""Longest text, in characters, whose words are kept: 8,192 of them are some 30 MB at most, 5 MB in a chat."""

_local = threading.local()  # PyStemmer's object is not safe to share between threads


def _stemmer() -> Stemmer.Stemmer:
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    stemmer: Stemmer.Stemmer = _local.stemmer
    return stemmer


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a case-folded word (Snowball English; words of other scripts stay as they are)."""
    if not _ENGLISH.fullmatch(word):
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def words(text: str) -> list[str]:
    """Return the case-folded words of ``text`` in order; runs of unspaced scripts come whole."""
    return [word for word, _ in _found(text)]


def tokens(text: str) -> list[str]:
    """Return index tokens: stems of words, character bigrams of unspaced scripts; function words are kept.

    BM25's inverse document frequency makes function words weigh little by itself.
    """
    return [token for word, is_unspaced in _found(text) for token in _of(word, is_unspaced)]


def content_tokens(text: str) -> list[str]:
    """Return the tokens of ``text`` that are not English function words."""
    return [token for word, is_unspaced in _found(text) if word not in STOP for token in _of(word, is_unspaced)]


def splits_word(text: str, at: int) -> bool:
    """Tell whether ``at`` is inside a word; scripts without spaces have no such place."""
    return 0 < at < len(text) and bool(_IN_WORD.match(text[at - 1]) and _IN_WORD.match(text[at]))


def _found(text: str) -> tuple[tuple[str, bool], ...]:
    """Return each case-folded word and whether its script writes no spaces.

    A sentence is asked about forty times on its way through the stages, so those of ordinary length are kept.
    """
    return _kept(text) if len(text) <= _KEPT else _read(text)


@lru_cache(maxsize=8192)
def _kept(text: str) -> tuple[tuple[str, bool], ...]:
    return _read(text)


def _read(text: str) -> tuple[tuple[str, bool], ...]:
    found = _ASCII.finditer(text.lower()) if text.isascii() else _TOKEN.finditer(folded(text))
    return tuple([(match.group().removesuffix("'s"), match.lastgroup == "unspaced") for match in found])


def folded(text: str) -> str:
    """Return ``text`` without case, without the points that may be left out, and with one kind of apostrophe."""
    return _POINTS.sub("", unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'"))


def _of(word: str, is_unspaced: bool) -> list[str]:  # noqa: FBT001 - one of the two things known of a word
    if not is_unspaced:
        return [stem(word)]
    return [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]
