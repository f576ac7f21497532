"""An item as the routers compare it, wherever it is read from: this event, the state, or memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.extracted import OBJECT_SLOT, VALUE_SLOT, Item, ItemKind, Key, Slot
from schemas.interval import Interval
from schemas.memory import OPEN, RecordKind, RecordRow
from schemas.normalized import Attitude
from schemas.space import Space
from stages.ports import Found
from stages.route.ids import about_of, item_id

MAX_VALUE = 48
"""Characters of a slot that are compared and kept."""

RECORDS = {
    ItemKind.EVENT: RecordKind.EVENT,
    ItemKind.FACT: RecordKind.FACT,
    ItemKind.ATTRIBUTE: RecordKind.ATTRIBUTE,
}
"""The kind of record of each kind of item."""

_KINDS = {record: item for item, record in RECORDS.items()}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is compared: key, words, value, polarity and time (Unix seconds). ``vector`` is there for recent items.

    ``back`` is how many events before ``position`` it was said; ``tentative``: nobody did, history suggests it.
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
    back: int = 0
    tentative: bool = False

    @property
    def said(self) -> int:
        """The position of the turn that says it: an event may bring items of the chunk that it closes."""
        return self.position - self.back

    @property
    def order(self) -> tuple[int, int]:
        """Where it stands among others: what came with one event is in the order in which it was said."""
        return self.position, self.said


def of_item(space: Space, position: int, ordinal: int, item: Item, at: int) -> Evidence:
    """Return an item of the present event, said at ``at`` (Unix seconds) or in an earlier turn, as evidence."""
    said = at if item.quoted is None else int(item.quoted.at.timestamp())
    made = _evidence(item, (item_id(space, position, ordinal), position, said), item.kind, item.key)
    return made if item.quoted is None else replace(made, back=position - item.quoted.position)


def of_found(found: Found) -> Evidence | None:
    """Return an item record as evidence; ``None`` for one that is closed, changed, or has no key.

    One that consolidation made stands where it was said: what was told before the night may be judged after it.
    """
    record = found.record
    gone = found.changed is not None or found.until != OPEN
    if record.key is None or gone or record.kind not in _KINDS:
        return None
    position = said_at(record) if record.run is not None else record.since
    made = _evidence(record, (record.id, position, int(record.at.timestamp())), _KINDS[record.kind], record.key)
    return replace(made, back=position - said_at(record))


def said_at(record: RecordRow) -> int:
    """Return the position of the turn that says an item."""
    return record.since if record.said_at is None else record.said_at


def _evidence(source: Item | RecordRow, where: tuple[str, int, int], kind: ItemKind, key: Key) -> Evidence:
    """Return an item or its record as evidence; ``where`` is its id, its position and when it was said."""
    name, position, at = where
    start, end = _seconds(source.interval)
    fresh = source if isinstance(source, Item) else None
    return Evidence(
        id=name,
        position=position,
        kind=kind,
        about=about_of(kind, key),
        key=key,
        text=source.text,
        value=_slot(source.slots, VALUE_SLOT),
        object=_slot(source.slots, OBJECT_SLOT),
        negated=source.negated,
        attitude=source.attitude,
        start=start,
        end=end,
        at=at,
        vector=fresh.vector if fresh else None,
        changes=fresh.changes if fresh else False,
        suspect=source.suspect,
        tentative=source.rests_on is not None,
    )


def _seconds(interval: Interval | None) -> tuple[int | None, int | None]:
    if interval is None:
        return None, None
    return int(interval.start.timestamp()), int(interval.end.timestamp())


def _slot(slots: Sequence[Slot], name: str) -> str | None:
    return next((slot.value[:MAX_VALUE] for slot in slots if slot.name == name), None)


def changed(evidence: Evidence, *, changes: bool) -> Evidence:
    """Return evidence read from memory with what only working memory knows of it."""
    return replace(evidence, changes=changes)
