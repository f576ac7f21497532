"""What of an answer stands: each quote in the turn it names, each number one that was shown (faults 1 and 13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.localized import Localized
from schemas.span import Span
from schemas.turn import Speaker
from schemas.view import View
from stages.extract_per_view.answers import Said, Taken
from stages.extract_per_view.drafts import barred
from stages.extract_per_view.shown import Shown, numbered, part
from stages.extract_per_view.standalone import clipped
from stages.text.tokens import content_tokens, tokens

_LEAST: Final = 3
"""Characters of a quote that is more than a letter found anywhere."""

NOTHING_STANDS: Final = (
    "No item can be used: every quote must be copied letter by letter from the turn that it names, and every number be "
    "one that was given. Write the items again, or none."
)


@dataclass(frozen=True, slots=True)
class Grounded:
    """An item of an answer with what its numbers stand for, and the span of its turn that it quotes."""

    said: Said
    turn: Localized
    span: Span
    owner: Speaker
    views: tuple[View, ...]
    suggested_by: tuple[str, ...]

    @property
    def quote(self) -> str:
        """The words of the turn."""
        return self.span.of(self.turn.normalized.text)


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of an answer; ``refused`` counts the items, views and records that are not so."""

    items: tuple[Grounded, ...] = ()
    refused: int = 0


def check(shown: Shown, answer: Taken) -> str | None:
    """Say what is wrong with an answer of which nothing stands."""
    return NOTHING_STANDS if answer.items and not standing(shown, answer).items else None


def standing(shown: Shown, answer: Taken) -> Standing:
    """Return what of an answer stands."""
    read = [_grounded(shown, said) for said in answer.items]
    kept = tuple(one for one, _ in read if one is not None)
    return Standing(kept, sum(refused for _, refused in read))


def _grounded(shown: Shown, said: Said) -> tuple[Grounded | None, int]:
    views = tuple(shown.views[number - 1] for number in dict.fromkeys(said.views) if numbered(number, shown.views))
    suggested = tuple(dict.fromkeys(number for number in said.suggested_by if numbered(number, shown.known)))
    invented = len(set(said.views)) - len(views) + len(set(said.suggested_by)) - len(suggested)
    if not (views and numbered(said.turn, shown.turns) and numbered(said.owner, shown.speakers)):
        return None, invented + 1
    turn = shown.turns[said.turn - 1]
    span = found(part(turn.normalized.text), said.quote)
    if span is None or not _allowed(shown, turn, span) or not _of_chunk(shown, said, suggested):
        return None, invented + 1
    ids = tuple(shown.known[number - 1].record.id for number in suggested)
    return Grounded(said, turn, span, shown.speakers[said.owner - 1], views, ids if said.tentative else ()), invented


def _allowed(shown: Shown, turn: Localized, span: Span) -> bool:
    """Tell whether the turn says this itself, and does not repeat what somebody said."""
    people = [speaker.label for speaker in shown.speakers]
    return not any(start <= span.start < end for start, end in barred(turn.normalized.text, people))


def _of_chunk(shown: Shown, said: Said, suggested: Sequence[int]) -> bool:
    """Tell whether the text has something of the chunk beside names, and of what suggests it where it is tentative."""
    if said.tentative and not suggested:
        return False
    names = {token for speaker in shown.speakers for token in tokens(speaker.label)}
    mine = set(content_tokens(said.text)) - names
    there = {token for turn in shown.turns for token in content_tokens(part(turn.normalized.text))}
    there |= {token for number in suggested for token in content_tokens(shown.known[number - 1].record.text)}
    return not mine or not there.isdisjoint(mine)


def found(text: str, quote: str) -> Span | None:
    """Return where a text has the words of a quote, whatever its white space and the case of its letters."""
    words = quote.split()
    if not words or sum(map(len, words)) < min(_LEAST, len(text.strip())):
        return None
    for pattern in _patterns(words):
        match = pattern.search(text)
        if match is not None:
            return clipped(text, Span(start=match.start(), end=match.end()))
    return None


def _patterns(words: Sequence[str]) -> Iterator[re.Pattern[str]]:
    same = r"\s+".join(map(re.escape, words))
    yield re.compile(same)
    yield re.compile(same, re.IGNORECASE)
