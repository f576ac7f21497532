"""Drafts that a view took become items: kind, key, polarity, time and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.extracted import OBJECT_SLOT, PREFERENCE_PREFIX, VALUE_SLOT, Item, ItemKind, Key, Slot
from schemas.localized import Localized
from schemas.normalized import Attitude
from schemas.turn import Role
from stages.extract_per_view.assign import kind_of
from stages.extract_per_view.corrections import Corrected, about, stated, target_of, values_of
from stages.extract_per_view.cues import changes, liking, negated
from stages.extract_per_view.dates import finest
from stages.extract_per_view.drafts import Draft
from stages.extract_per_view.keys import heads, key_of, person_of, subject_of
from stages.extract_per_view.standalone import times_of
from stages.extract_per_view.state import TEXT_BYTES, TOLD_BYTES, Party, Statement, Told
from stages.stored import clip, short


@dataclass(frozen=True, slots=True)
class Shaped:
    """A draft with what its words say of it, before it is embedded a second time for a changed text."""

    draft: Draft
    views: tuple[str, ...]
    kind: ItemKind
    key: Key
    target: Corrected | None

    @property
    def text(self) -> str:
        """The item's text: the stand-alone sentence, with what it corrects behind it."""
        return self.draft.text if self.quoted is None else about(self.draft.text, self.quoted.text)

    @property
    def quoted(self) -> Corrected | None:
        """What the text quotes: only a turn that can be named, since a record names every turn it rests on."""
        return self.target if self.target is not None and self.target.turn_id is not None else None

    @property
    def provenance(self) -> tuple[str, ...]:
        """The turns that the item rests on, its own first."""
        own = self.draft.normalized.turn.turn_id
        other = self.quoted.turn_id if self.quoted is not None else None
        return (own,) if other is None or other == own else (own, other)


def shaped(
    localized: Localized, draft: Draft, views: tuple[str, ...], told: Sequence[Told], parties: Sequence[Party]
) -> Shaped:
    """Return what a draft is about; a correction takes the kind and the key of what it puts right."""
    normalized = localized.normalized
    speaker = normalized.turn.speaker
    persona = speaker.role is Role.USER and not normalized.suspect
    kind = kind_of(views, draft, persona=persona)
    key = _key(localized, draft, views[0], kind, parties)
    return settled(localized, Shaped(draft, views, kind, key, None), told, parties, persona=persona)


def settled(
    localized: Localized, shape: Shaped, told: Sequence[Told], parties: Sequence[Party], *, persona: bool
) -> Shaped:
    """Return a draft's shape with what it puts right, where it is a correction: that has kind and key."""
    draft, views, kind, key = shape.draft, shape.views, shape.kind, shape.key
    target = _target(localized, draft, key, told, parties) if draft.corrects else None
    if target is not None and not (target.kind is ItemKind.ATTRIBUTE and not persona):
        same = target.key == key
        return Shaped(draft, views, target.kind, target.key, None if same else target)
    return Shaped(draft, views, kind, key, None)


def _key(localized: Localized, draft: Draft, view: str, kind: ItemKind, parties: Sequence[Party]) -> Key:
    normalized = localized.normalized
    speaker = normalized.turn.speaker
    people = (speaker.label, *(party.label for party in parties))
    person = person_of(draft.source)
    subject = person or subject_of(draft.source, normalized.z.entities, people, localized.placement.branch)
    words = heads(draft.source, (*people, *((person,) if person else ())))
    key = key_of(speaker.id, kind, view, draft.aspect, subject=subject, words=words)
    return key.model_copy(update={"subject": person}) if person and draft.aspect is None else key


def _target(
    localized: Localized, draft: Draft, key: Key, told: Sequence[Told], parties: Sequence[Party]
) -> Corrected | None:
    """Return what a correction is about: nothing said after it. An agent can put right its own statements only."""
    speaker = localized.normalized.turn.speaker
    told = [entry for entry in told if entry.spoken <= localized.header.position]
    values = values_of(draft.source, finest(times_of(localized.normalized, draft.span)))
    own = [entry for entry in told if speaker.role is Role.USER or entry.speaker == short(speaker.id)]
    said = stated(own, (speaker.id, *(party.id for party in parties)))
    return target_of(draft.source, key, localized.placement.branch, localized.header.position, values=values, said=said)


def item(localized: Localized, shape: Shaped, vector: bytes) -> Item:
    """Return the finished item; ``vector`` is that of its text."""
    normalized, draft = localized.normalized, shape.draft
    attitude, denied = _polarity(normalized.z.attitude, draft)
    return Item(
        kind=shape.kind,
        text=shape.text,
        span=draft.span,
        owner=shape.key.owner,
        key=shape.key,
        views=shape.views,
        slots=_slots(draft),
        attitude=attitude,
        negated=denied,
        interval=finest(times_of(normalized, draft.span)),
        corrects=draft.corrects,
        changes=changes(draft.source) and not normalized.suspect,
        suspect=normalized.suspect,
        provenance=shape.provenance,
        vector=vector,
    )


def _slots(draft: Draft) -> tuple[Slot, ...]:
    found = draft.aspect
    named = ((VALUE_SLOT, found.value), (OBJECT_SLOT, found.object)) if found is not None else ()
    return tuple(Slot(name=name, value=value) for name, value in named if value)


def _polarity(turn: Attitude, draft: Draft) -> tuple[Attitude, bool]:
    """Return the attitude and whether the statement is denied; "I hate steak" denies that its speaker eats meat."""
    own = liking(draft.source)
    denied = negated(draft.source)
    if draft.aspect is not None and draft.aspect.attribute.startswith(PREFERENCE_PREFIX):
        return own, denied or (draft.aspect.value is not None and own is Attitude.NEGATIVE)
    return (own if own is not Attitude.NONE else turn), denied


def told_of(localized: Localized, items: Sequence[Item], kept: int, position: int | None = None, part: int = 1) -> Told:
    """Return what the state remembers of a turn: its last ``kept`` items, within the bytes that it may take.

    ``position`` is that of the event which brought the items, where it is a later one; ``part`` divides the bytes.
    What is suspect or a guess is nothing that anybody said, and so nothing that could be put right.
    """
    speaker = localized.normalized.turn.speaker.id
    last = [one for one in items if not (one.suspect or one.tentative)][-kept:]
    share = max(len(last), 1) * part
    made = (_statement(one, speaker, TEXT_BYTES // share, TOLD_BYTES // share) for one in last)
    own = localized.header.position
    return Told(
        position=own if position is None else position,
        turn=short(localized.normalized.turn.turn_id),
        branch=localized.placement.branch,
        speaker=short(speaker),
        statements=tuple(one for one in made if one is not None),
        said=None if position in {None, own} else own,
    )


def _statement(one: Item, speaker: str, text_bytes: int, room: int) -> Statement | None:
    """Return an item as a later correction sees it, in ``room`` bytes as stored; ``None`` if its key leaves no room."""
    bare = Statement(
        kind=one.kind,
        attribute=one.key.attribute,
        owner="" if one.key.owner == speaker else short(one.key.owner),
        subject=one.key.subject,
        values=values_of(one.text, one.interval)[:3],
    )
    left = min(text_bytes, room - len(bare.model_dump_json().encode()))
    if left < 0:
        return None
    return bare.model_copy(update={"text": clip(one.text, left)})
