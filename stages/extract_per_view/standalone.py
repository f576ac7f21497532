"""Sentences made to stand alone: names for pronouns, dates behind time phrases, titles behind "that book"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.interval import TimeMention
from schemas.normalized import Mention, Normalized
from schemas.span import Span
from stages.extract_per_view.dates import shown
from stages.extract_per_view.pronouns import Voice, replacements

MAX_CHARS = 600
"""Characters of a sentence that an item quotes; longer runs (tables, code, lists without stops) are cut at a word."""

_SURE = 0.5
"""Confidence from which a linked mention is worth writing into the text."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters ``[start, end)`` of the turn's text become ``text``."""

    start: int
    end: int
    text: str


def clipped(text: str, span: Span) -> Span:
    """Return the span without white space at its ends, cut at a word if it is over ``MAX_CHARS``."""
    raw = span.of(text)
    if len(raw) <= MAX_CHARS and raw == raw.strip():
        return span
    start = span.start + len(raw) - len(raw.lstrip())
    end = span.start + len(raw.rstrip())
    if end - start > MAX_CHARS:
        cut = text.rfind(" ", start, start + MAX_CHARS)
        end = cut if cut > start else start + MAX_CHARS
    return Span(start=start, end=max(end, start + 1))


def standalone(normalized: Normalized, span: Span, voice: Voice) -> str:
    """Return the sentence at ``span`` so that it can be read without its turn.

    It names its speaker in every case: where no pronoun stood for them, their name goes before the sentence.
    """
    edits = sorted((*_times(normalized, span), *_titles(normalized, span)), key=lambda edit: (edit.start, edit.end))
    taken = [(edit.start, edit.end) for edit in edits]
    people = [Edit(*found) for found in replacements(normalized.text, span, voice) if not _touches(found[:2], taken)]
    text = " ".join(_applied(normalized.text, span, sorted((*edits, *people), key=lambda edit: edit.start)).split())
    return text if names(text, voice.speaker) else f"{voice.speaker}: {text}"


def names(text: str, name: str) -> bool:
    """Tell whether ``text`` says ``name`` as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _touches(span: tuple[int, int], taken: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in taken)


def _inside(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def times_of(normalized: Normalized, span: Span) -> tuple[TimeMention, ...]:
    """Return the temporal expressions within ``span``."""
    return tuple(mention for mention in normalized.times if _inside(mention.span, span))


def _times(normalized: Normalized, span: Span) -> Iterator[Edit]:
    for mention in times_of(normalized, span):
        date = shown(mention)
        if date is not None:
            yield Edit(mention.span.end, mention.span.end, f" ({date})")


def _titles(normalized: Normalized, span: Span) -> Iterator[Edit]:
    sentence = span.of(normalized.text)
    for mention in normalized.mentions:
        if _inside(mention.span, span) and mention.refers_to not in sentence and _worth(mention):
            yield Edit(mention.span.end, mention.span.end, f' ("{mention.refers_to}")')


def _worth(mention: Mention) -> bool:
    return mention.confidence >= _SURE and bool(mention.refers_to.strip())


def _applied(text: str, span: Span, edits: Sequence[Edit]) -> str:
    pieces, at = [], span.start
    for edit in edits:
        if edit.start < at:
            continue
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*pieces, text[at : span.end]))
