"""An item as the routers compare it, wherever it is read from: this event, the state, or memory."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from schemas.extracted import Item, ItemKind, Key, Slot
from schemas.header import record_id
from schemas.interval import Interval
from schemas.memory import OPEN, RecordKind, RecordRow
from schemas.normalized import Attitude
from schemas.space import Space
from stages.ports import Found
from stages.route.state import short

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
    """What is compared: key, words, value, polarity and time (Unix seconds). ``vector`` is there for recent items.

    ``about`` stands for kind and key. What the state had no room for is empty, the attribute and the text too.
    """

    id: str
    position: int
    kind: ItemKind
    about: str
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


def digest(text: str) -> str:
    """Return a short fixed name of a text (6 characters); equal texts have equal ones."""
    return _hashed(" ".join(text.casefold().split()), 4)


def about_of(kind: ItemKind, key: Key) -> str:
    """Return what stands for a kind and a key wherever they were read from (7 characters, 40 bits)."""
    return _hashed("\n".join((kind, short(key.owner), key.subject or "", key.attribute)), 5)


def person(name: str) -> str:
    """Return what stands for a participant's id in the rows of turns (8 characters)."""
    return _hashed(short(name), 6)


def _hashed(text: str, size: int) -> str:
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=size).digest()).decode().rstrip("=")


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
        about=about_of(item.kind, item.key),
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


def of_found(found: Found) -> Evidence | None:
    """Return an item record as evidence; ``None`` for one that is closed, changed, or has no key."""
    record = found.record
    gone = found.changed is not None or found.until != OPEN
    if record.key is None or gone or record.kind not in _KINDS:
        return None
    start, end = _seconds(record.interval)
    return Evidence(
        id=record.id,
        position=record.since,
        kind=_KINDS[record.kind],
        about=about_of(_KINDS[record.kind], record.key),
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


def changed(evidence: Evidence, *, changes: bool) -> Evidence:
    """Return evidence read from memory with what only working memory knows of it."""
    return replace(evidence, changes=changes)
