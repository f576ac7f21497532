"""What of an answer stands: each quote in the turn it names, each number one that was shown (faults 1 and 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.localized import Localized
from schemas.span import Span
from schemas.turn import Speaker
from schemas.view import View
from stages.extract_per_view.answers import Filled, Said, Taken
from stages.extract_per_view.drafts import barred
from stages.extract_per_view.occurrences import occurrences
from stages.extract_per_view.shown import Shown, numbered, part
from stages.extract_per_view.wording import says_something, tells, worded
from stages.text.tokens import content_tokens, tokens

NOTHING_STANDS: Final = (
    "No item can be used: every quote must be copied letter by letter from the turn that it names, and every number be "
    "one that was given. Write the items again, or none."
)


@dataclass(frozen=True, slots=True)
class Grounded:
    """An item of an answer with what its numbers stand for, and the span of its turn that it quotes.

    ``rests`` are the ids of the chunk's other turns whose words the text has and its own turn has not.
    """

    said: Said
    turn: Localized
    span: Span
    owner: Speaker
    views: tuple[View, ...]
    suggested_by: tuple[str, ...]
    rests: tuple[str, ...] = ()

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


def _grounded(shown: Shown, answered: Said) -> tuple[Grounded | None, int]:
    views = tuple(shown.views[number - 1] for number in dict.fromkeys(answered.views) if numbered(number, shown.views))
    suggested = tuple(dict.fromkeys(number for number in answered.suggested_by if numbered(number, shown.known)))
    invented = len(set(answered.views)) - len(views) + len(set(answered.suggested_by)) - len(suggested)
    if not (views and numbered(answered.turn, shown.turns) and numbered(answered.owner, shown.speakers)):
        return None, invented + 1
    said = _clean(answered, is_guess=answered.tentative or bool(suggested))
    turn, owner = shown.turns[said.turn - 1], shown.speakers[said.owner - 1]
    span = _place(shown, turn, said.quote)
    if span is None or not tells(said.text) or not _of_chunk(shown, turn, said, suggested):
        return None, invented + 1
    if all(one.normalized.turn.speaker.id != owner.id for one in shown.beside(turn)):
        return None, invented + 1
    ids = tuple(shown.known[number - 1].record.id for number in suggested)
    return Grounded(said, turn, span, owner, views, ids, _rests(shown, turn, said)), invented


def _clean(said: Said, *, is_guess: bool) -> Said:
    """Return an item with its words as they may be kept; what rests on remembered things is a guess, say it or not."""
    filled = [Filled.model_construct(name=worded(one.name), value=worded(one.value)) for one in said.slots]
    changed = {
        "text": worded(said.text),
        "subject": worded(said.subject),
        "attribute": worded(said.attribute),
        "slots": tuple(one for one in filled if one.name and says_something(one.value)),
        "tentative": is_guess,
    }
    return said.model_copy(update=changed)


def _place(shown: Shown, turn: Localized, quote: str) -> Span | None:
    """Return the first place where the turn says this itself, and does not repeat what somebody said."""
    people = {*shown.people, *(speaker.label for speaker in shown.speakers)}
    out = barred(turn.normalized.text, sorted(people))
    places = occurrences(part(turn.normalized.text), quote)
    return next((one for one in places if not any(a < one.end and one.start < b for a, b in out)), None)


def _of_chunk(shown: Shown, turn: Localized, said: Said, suggested: Sequence[int]) -> bool:
    """Tell whether the text has something of its chunk beside names, or of what suggests it where it is tentative."""
    if said.tentative and not suggested:
        return False
    mine = _own_words(shown, said)
    there = {token for one in shown.beside(turn) for token in _tokens(one)}
    there |= {token for number in suggested for token in content_tokens(shown.known[number - 1].record.text)}
    return not mine or not there.isdisjoint(mine)


def _rests(shown: Shown, turn: Localized, said: Said) -> tuple[str, ...]:
    """Return the other turns that an item rests on: each gives it a word that it has from no turn before."""
    lacking = _own_words(shown, said) - _tokens(turn)
    found = []
    for other in shown.beside(turn):
        given = lacking & _tokens(other)
        if given:
            found.append(other.normalized.turn.turn_id)
            lacking -= given
    return tuple(found)


def _own_words(shown: Shown, said: Said) -> set[str]:
    names = {token for speaker in shown.speakers for token in tokens(speaker.label)}
    return set(content_tokens(said.text)) - names


def _tokens(turn: Localized) -> set[str]:
    return set(content_tokens(part(turn.normalized.text)))
