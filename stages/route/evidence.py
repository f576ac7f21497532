"""An item as the routers compare it, wherever it is read from: this event, the state, or memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from schemas.extracted import Item, ItemKind, Key, Slot
from schemas.header import record_id
from schemas.interval import Interval
from schemas.memory import RecordKind, RecordRow
from schemas.normalized import Attitude
from schemas.space import Space
from stages.ports import Found
from stages.route.state import KEPT_BYTES, KEPT_ITEMS, TEXT_BYTES, KeptItem, KeptVector, short

ITEM = "item"
"""The role of item records in their ids."""

VALUE = "value"
"""The slot of an attribute that has one value at a time."""

OBJECT = "object"
"""The slot of an attribute that is said of many things: what it is said of."""

MAX_VALUE = 48
"""Characters of a slot that are compared and kept."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is compared: key, words, value, polarity and time (Unix seconds). ``vector`` is there for recent items."""

    id: str
    position: int
    kind: ItemKind
    key: Key
    text: str
    value: str | None
    object: str | None
    negated: bool
    attitude: Attitude
    start: int | None
    end: int | None
    at: int
    vector: bytes | None = None
    changes: bool = False
    suspect: bool = False

    @property
    def about(self) -> tuple[ItemKind, str, str | None, str]:
        """What it is about, comparable wherever it was read from: kind, short owner, subject, attribute."""
        return self.kind, short(self.key.owner), self.key.subject, self.key.attribute


def digest(text: str) -> str:
    """Return a short fixed name of a text; equal texts have equal ones."""
    return blake2b(" ".join(text.casefold().split()).encode(), digest_size=4).hexdigest()


def item_id(space: Space, position: int, ordinal: int) -> str:
    """Return the id of an item record."""
    return record_id(space, position, ITEM, ordinal)


def of_item(space: Space, position: int, ordinal: int, item: Item, at: int) -> Evidence:
    """Return an item of the present event as evidence."""
    start, end = _seconds(item.interval)
    return Evidence(
        id=item_id(space, position, ordinal),
        position=position,
        kind=item.kind,
        key=item.key,
        text=item.text,
        value=_slot(item.slots, VALUE),
        object=_slot(item.slots, OBJECT),
        negated=item.negated,
        attitude=item.attitude,
        start=start,
        end=end,
        at=at,
        vector=item.vector,
        changes=item.changes,
        suspect=item.suspect,
    )


def of_kept(space: Space, kept: KeptItem, speaker: str, vector: bytes | None) -> Evidence:
    """Return an item of the state as evidence; ``speaker`` is the short id of who said it."""
    return Evidence(
        id=item_id(space, kept.position, kept.ordinal),
        position=kept.position,
        kind=kept.kind,
        key=Key(owner=kept.owner or speaker, subject=kept.subject, attribute=kept.attribute),
        text=kept.text,
        value=kept.value,
        object=kept.object,
        negated=kept.negated,
        attitude=kept.attitude,
        start=kept.start,
        end=kept.end,
        at=kept.at,
        vector=vector,
        changes=kept.changes,
    )


def of_found(found: Found) -> Evidence | None:
    """Return an item record as evidence; ``None`` for one that is closed, changed, or has no key."""
    record = found.record
    if record.key is None or found.changed is not None or found.until <= record.since or record.kind not in _KINDS:
        return None
    start, end = _seconds(record.interval)
    return Evidence(
        id=record.id,
        position=record.since,
        kind=_KINDS[record.kind],
        key=record.key,
        text=record.text,
        value=_slot(record.slots, VALUE),
        object=_slot(record.slots, OBJECT),
        negated=record.negated,
        attitude=record.attitude,
        start=start,
        end=end,
        at=_at(record),
        suspect=record.suspect,
    )


_KINDS = {
    RecordKind.EVENT: ItemKind.EVENT,
    RecordKind.FACT: ItemKind.FACT,
    RecordKind.ATTRIBUTE: ItemKind.ATTRIBUTE,
}


def _at(record: RecordRow) -> int:
    return int(record.at.timestamp())


def _seconds(interval: Interval | None) -> tuple[int | None, int | None]:
    if interval is None:
        return None, None
    return int(interval.start.timestamp()), int(interval.end.timestamp())


def _slot(slots: Sequence[Slot], name: str) -> str | None:
    return next((slot.value[:MAX_VALUE] for slot in slots if slot.name == name), None)


def kept_of(
    speaker: str, evidence: Sequence[tuple[int, Evidence]]
) -> tuple[tuple[KeptItem, ...], tuple[KeptVector, ...]]:
    """Return what the state keeps of a turn's items, given with their ordinals: attributes first, within the bytes."""
    standing = [pair for pair in evidence if not pair[1].suspect]
    ranked = sorted(standing, key=lambda pair: (pair[1].kind is not ItemKind.ATTRIBUTE, pair[0]))
    chosen = list[KeptItem]()
    room = KEPT_BYTES
    for ordinal, one in ranked[:KEPT_ITEMS]:
        kept = _kept(speaker, ordinal, one)
        room -= len(kept.model_dump_json().encode())
        if room >= 0:
            chosen.append(kept)
    items = tuple(sorted(chosen, key=lambda kept: kept.ordinal))
    vectors = {ordinal: one.vector for ordinal, one in evidence}
    return items, tuple(
        KeptVector(position=kept.position, ordinal=kept.ordinal, vector=vector)
        for kept in items
        if (vector := vectors[kept.ordinal]) is not None
    )


def _kept(speaker: str, ordinal: int, one: Evidence) -> KeptItem:
    return KeptItem(
        position=one.position,
        ordinal=ordinal,
        kind=one.kind,
        owner="" if short(one.key.owner) == speaker else short(one.key.owner),
        subject=one.key.subject,
        attribute=one.key.attribute,
        text=one.text.encode()[:TEXT_BYTES].decode("utf-8", "ignore"),
        value=one.value,
        object=one.object,
        negated=one.negated,
        attitude=one.attitude,
        start=one.start,
        end=one.end,
        at=one.at,
        changes=one.changes,
    )


def changed(evidence: Evidence, *, changes: bool) -> Evidence:
    """Return evidence read from memory with what only working memory knows of it."""
    return replace(evidence, changes=changes)
