"""z_t by rules: the canonical parse of a turn (AdaMem 3.2, E.1; mechanics, normalize 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schemas.normalized import Understanding
from stages.normalize.attitude import attitude
from stages.normalize.names import Name, distinct, is_address
from stages.normalize.reading import Sentence, content_words, tokens_of
from stages.normalize.statements import SMALL_TALK, is_question, reason, statements

MOST_KEYWORDS = 12
_NAME_WEIGHT = 3
"""A word of a name counts as often again as this: names tell turns apart."""

_TOPIC_WORDS = 3
_WORD = 40
"""Words of a topic, and characters of one; an unspaced script gives bigrams."""

_SUMMARY = 240
"""Characters of a summary: path summaries hold several in 500 bytes."""

_SCANNED = 40
"""Sentences that compete for the summary: a person says the point early, a document has it in its beginning."""


def understand(text: str, speaker: str, sentences: Sequence[Sentence], found: Sequence[Name]) -> Understanding:
    """Return z_t of ``text`` (full text of a turn), said by ``speaker``, with its sentences and names given.

    All of it is deterministic and linear in the text. Spans count in ``text``.
    """
    facts, attributes = statements(text, sentences)
    weights = _weights(text, sentences, found)
    ranked = sorted(weights, key=lambda token: (token in SMALL_TALK, -weights[token], -len(token), token))
    return Understanding(
        summary=_summary(text, speaker, sentences[:_SCANNED], weights),
        topic=_topic(ranked, sentences),
        attitude=attitude([text[each.start : each.end] for each in sentences[:_SCANNED]]),
        reason=reason(text, sentences),
        facts=facts,
        attributes=attributes,
        entities=distinct(found),
        keywords=tuple(ranked[:MOST_KEYWORDS]),
    )


def _weights(text: str, sentences: Sequence[Sentence], found: Sequence[Name]) -> Counter[str]:
    """Count the content tokens of ``text``, those of names more, and those of who is addressed less."""
    counts = Counter([token for sentence in sentences for word in sentence.words for token in tokens_of(word)])
    for name in found:
        weight = -1 if is_address(text, name) else _NAME_WEIGHT
        for token in {token for word in content_words(name.text) for token in tokens_of(word)} & counts.keys():
            counts[token] += weight
    return counts


def _topic(ranked: Sequence[str], sentences: Sequence[Sentence]) -> str:
    """Return the words of the most telling tokens, in the order in which the text has them."""
    open_ = {token for token in ranked[:_TOPIC_WORDS] if token not in SMALL_TALK}
    chosen: list[str] = []
    for word in (word for sentence in sentences for word in sentence.words):
        found = tokens_of(word)
        hits = open_.intersection(found)
        if hits:
            chosen.extend([word] if len(found) == 1 else sorted(hits))
            open_ -= hits
        if not open_:
            break
    return " ".join(word[:_WORD] for word in chosen)


def _summary(text: str, speaker: str, sentences: Sequence[Sentence], weights: Counter[str]) -> str:
    """Return the most telling sentence with its speaker before it: statements before questions, then the first."""
    said = [each for each in sentences if text[each.start] != "["] or sentences  # a caption only where nothing is said
    best = max(said, key=lambda each: (_telling(text, each, weights), -each.start), default=None)
    start, end = (0, len(text)) if best is None else (best.start, best.end)
    return f"{speaker}: {shortened(' '.join(text[start : min(end, start + 2 * _SUMMARY)].split()))}"


def _telling(text: str, sentence: Sentence, weights: Counter[str]) -> int:
    content = sum(min(max(weights[token], 1), _NAME_WEIGHT) for token in sentence.tokens - SMALL_TALK)
    return content if is_question(text[sentence.start : sentence.end]) else 2 * content


def shortened(sentence: str) -> str:
    """Return a sentence as a summary may have it: at most 240 characters, cut at a word."""
    return sentence if len(sentence) <= _SUMMARY else f"{sentence[:_SUMMARY].rsplit(' ', 1)[0]}…"
