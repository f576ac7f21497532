"""Items that a model took out: the words are its own, all that decides later comes from the quote by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.extracted import OBJECT_SLOT, VALUE_SLOT, Item, ItemKind, Key, Quoted, Slot
from schemas.localized import Localized
from schemas.turn import Role
from stages.extract_per_view.aspects import Aspect, aspect
from stages.extract_per_view.cues import corrects
from stages.extract_per_view.drafts import Draft
from stages.extract_per_view.grounded import Grounded
from stages.extract_per_view.items import Shaped, settled
from stages.extract_per_view.keys import MAX_SUBJECT, heads
from stages.extract_per_view.phrases import slug
from stages.extract_per_view.pronouns import Voice
from stages.extract_per_view.state import Party, Told
from stages.extract_per_view.statements import is_question, own

_STATED: Final = "stated "
"""Before slots of a model named like those by whose values rules retire records: a model's word is not enough."""

_BRANCH: Final = "branch:"
"""The subject of what is about no named thing: a model that says so names none."""


@dataclass(frozen=True)
class Worded(Draft):
    """A draft that a model put into words."""

    words: str

    @property
    def text(self) -> str:
        """The model's words."""
        return self.words


def shaped_by_model(one: Grounded, told: Sequence[Told], parties: Sequence[Party]) -> Shaped:
    """Return what a grounded item is about.

    An attribute is what a person says of themselves, in their own words and in no text shaped as instructions; what
    else would be one is a fact (faults 1 and 13).
    """
    persona = says_who_one_is(one)
    kind = one.views[0].kind
    kind = ItemKind.FACT if kind is ItemKind.ATTRIBUTE and not persona else kind
    known = aspect(one.quote) if kind is ItemKind.ATTRIBUTE and own(one.quote) and not is_question(one.quote) else None
    certain = None if one.said.tentative else known
    draft = _worded(one, certain)
    shape = Shaped(draft, tuple(view.id for view in one.views), kind, _key(one, kind, certain), None)
    return settled(one.turn, shape, told, parties, persona=persona)


def says_who_one_is(one: Grounded) -> bool:
    """Tell whether the quote may say who its speaker is."""
    normalized = one.turn.normalized
    speaker = normalized.turn.speaker
    own_words = one.span.end <= len(normalized.turn.text) or normalized.text == normalized.turn.text
    return speaker.role is Role.USER and not normalized.suspect and one.owner.id == speaker.id and own_words


def _worded(one: Grounded, known: Aspect | None) -> Worded:
    normalized = one.turn.normalized
    plain = not (normalized.suspect or one.said.tentative)
    return Worded(
        normalized=normalized,
        voice=Voice(normalized.turn.speaker.label),
        span=one.span,
        source=one.quote,
        aspect=known,
        corrects=plain and corrects(one.quote),
        spoken=None,
        rank=0,
        words=one.said.text,
    )


def _key(one: Grounded, kind: ItemKind, known: Aspect | None) -> Key:
    if known is not None:
        return Key(owner=one.owner.id, subject=known.subject, attribute=known.attribute)
    named = one.said.subject.casefold().strip()[:MAX_SUBJECT]
    is_taken = named == one.owner.label.casefold() or named.startswith(_BRANCH)
    subject = named if named and not is_taken else None
    if subject is None and kind is not ItemKind.ATTRIBUTE:
        subject = f"{_BRANCH}{one.turn.placement.branch}"
    return Key(owner=one.owner.id, subject=subject, attribute=slug(one.said.attribute) or _head(one))


def _head(one: Grounded) -> str:
    words = heads(one.quote, (one.owner.label,))
    return f"{one.views[0].id}:{words[0] if words else 'statement'}"


def slots_of(one: Grounded, made: Item) -> tuple[Slot, ...]:
    """Return the slots that rules filled, and those that the model did for slots of the item's views."""
    wanted = {slot for view in one.views for slot in view.slots}
    filled = {_slot_name(slot.name): slot.value for slot in one.said.slots if slot.name in wanted}
    return (*made.slots, *(Slot(name=name, value=value) for name, value in filled.items()))


def _slot_name(name: str) -> str:
    return f"{_STATED}{name}" if name in {VALUE_SLOT, OBJECT_SLOT} else name


def quoted(turn: Localized) -> Quoted:
    """Return what an item says of the earlier turn that it quotes."""
    said = turn.normalized.turn
    return Quoted(
        position=turn.header.position,
        speaker=said.speaker,
        at=said.at,
        session=said.session,
        branch=turn.placement.branch,
    )
