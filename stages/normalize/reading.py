"""A text read once: its sentences and the content words of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from stages.text.sentences import sentence_bounds
from stages.text.tokens import content_tokens, words

_CACHED = 40
"""Characters of a word worth keeping: runs of unspaced scripts come whole and seldom twice."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """The sentence in ``[start, end)`` of a text.

    ``words`` are its content words, case-folded, in order, ``tokens`` the distinct content tokens of these.
    """

    start: int
    end: int
    words: tuple[str, ...]
    tokens: frozenset[str]


def read(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of ``text`` in order."""
    return tuple(_sentence(start, end, content_words(text[start:end])) for start, end in sentence_bounds(text))


def _sentence(start: int, end: int, found: tuple[str, ...]) -> Sentence:
    return Sentence(start, end, found, frozenset([token for word in found for token in tokens_of(word)]))


def content_words(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` that have content; single Latin letters have none."""
    return tuple([word for word in words(text) if tokens_of(word) and not (len(word) == 1 and word.isascii())])


@lru_cache(maxsize=65536)
def _cached(word: str) -> tuple[str, ...]:
    parts = word.replace("'", " ").replace("\u2019", " ")
    return tuple(content_tokens(word)) if content_tokens(parts) else ()


def tokens_of(word: str) -> tuple[str, ...]:
    """Return the content tokens of a word: its stem, or bigrams of an unspaced script; none of "don't"."""
    return _cached(word) if len(word) <= _CACHED else tuple(content_tokens(word))
