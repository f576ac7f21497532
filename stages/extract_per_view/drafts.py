"""The sentences of a turn that may become items, made to stand alone, at most so many a turn."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from schemas.normalized import Normalized
from schemas.span import Span
from schemas.turn import Role
from stages.extract_per_view.aspects import Aspect, aspect
from stages.extract_per_view.cues import corrects
from stages.extract_per_view.pronouns import Voice
from stages.extract_per_view.quotes import quotations
from stages.extract_per_view.standalone import clipped, standalone
from stages.extract_per_view.state import Party, other_than
from stages.extract_per_view.statements import is_question, own, reacts, specificity, states, telling
from stages.text.sentences import sentences

LIMITS = {Role.USER: 12, Role.AGENT: 4, Role.SYSTEM: 0}
"""Items a turn: every one costs an embedding, and agents write three thousand characters at a time."""

_SURE = 100
"""Rank of a sentence whose form names an attribute or a correction: before all that are merely specific."""


_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
"""Fenced blocks: they become structured records, not statements."""

MIN_SPOKEN = 3
"""Telling stems that a fact of z_t needs where it is not its speaker's own."""


@dataclass(frozen=True)
class Draft:
    """A sentence that may become an item. ``spoken`` says that z_t found something here: "fact", "attribute"."""

    normalized: Normalized
    voice: Voice
    span: Span
    source: str
    aspect: Aspect | None
    corrects: bool
    spoken: str | None
    rank: int

    @cached_property
    def text(self) -> str:
        """The sentence as it stands alone; built for the few that are chosen only."""
        return standalone(self.normalized, self.span, self.voice)


class Hearing(NamedTuple):
    """What the drafts of a turn depend on beside the turn: whose voice it is, and the bounds of what it quotes."""

    voice: Voice
    quoted: tuple[tuple[int, int], ...]


def hearing(normalized: Normalized, parties: tuple[Party, ...]) -> Hearing:
    """Return how a turn is heard where these parties take part."""
    speaker = normalized.turn.speaker
    voice = Voice(speaker=speaker.label, other=other_than(parties, speaker))
    return Hearing(voice, tuple(quotations(normalized.text, [party.label for party in parties])))


def drafts(normalized: Normalized, heard: Hearing) -> tuple[Draft, ...]:
    """Return the drafts of a turn in the order of its text, no two with the same text."""
    limit = LIMITS[normalized.turn.speaker.role]
    if limit == 0:
        return ()
    voice = heard.voice
    people = tuple(name for name in (voice.speaker, voice.other) if name)
    spans = prose(normalized, heard.quoted)
    found = [draft for span in spans if (draft := _draft(normalized, span, voice, people)) is not None]
    best = sorted(found, key=lambda draft: (-draft.rank, draft.span.start))[:limit]
    distinct = {draft.text: draft for draft in sorted(best, key=lambda draft: -draft.span.start)}
    return tuple(sorted(distinct.values(), key=lambda draft: draft.span.start))


def prose(normalized: Normalized, quoted: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the sentences that may be statements, clipped: no code, no captions, and nothing that is quoted.

    Captions stand behind the text of the turn, whose own record says all that they say.
    """
    text = normalized.text
    out = bytearray(len(text))
    for start, end in (*_code(text), *quoted):
        out[start:end] = b"\1" * (end - start)
    for sentence in sentences(text):
        if sentence.start >= len(normalized.turn.text):
            return
        if not out[sentence.start]:
            yield clipped(text, sentence)


def _code(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _CODE.finditer(text))


def barred(text: str, people: Collection[str]) -> list[tuple[int, int]]:
    """Return the bounds of what a text does not state: code, and what it quotes of these people."""
    return [*_code(text), *quotations(text, people)]


def _draft(normalized: Normalized, span: Span, voice: Voice, people: tuple[str, ...]) -> Draft | None:
    source = span.of(normalized.text)
    correction = corrects(source) and not normalized.suspect
    known = aspect(source) if _persona(normalized) and own(source) and not is_question(source) else None
    spoken = _spoken(normalized, span)
    if not (correction or known is not None or states(source, people) or (spoken and _worth(source, people))):
        return None
    rank = specificity(source, people) + _SURE * (correction or known is not None)
    return Draft(normalized, voice, span, source, aspect=known, corrects=correction, spoken=spoken, rank=rank)


def _worth(source: str, people: tuple[str, ...]) -> bool:
    """Tell whether what z_t found here is more than a reaction: z_t keeps every statement."""
    return not reacts(source) and not is_question(source) and telling(source, people) >= MIN_SPOKEN


def _persona(normalized: Normalized) -> bool:
    """Tell whether a turn may say who someone is: an agent's or a suspect one may not (faults 1 and 13)."""
    return normalized.turn.speaker.role is Role.USER and not normalized.suspect


def _spoken(normalized: Normalized, span: Span) -> str | None:
    named = chain(
        (("attribute", snippet) for snippet in normalized.z.attributes),
        (("fact", snippet) for snippet in normalized.z.facts),
    )
    for name, snippet in named:
        if span.start <= snippet.span.start and snippet.span.end <= span.end:
            return name
    return None
