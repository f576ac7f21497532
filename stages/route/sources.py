"""The records that a consolidation decision names, as memory showed them W events ago and the state since."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from schemas.memory import ITEM_KINDS, OPEN, RecordContent, RecordKind
from stages.ports import Found
from stages.route.evidence import said_at
from stages.route.ids import about_of, item_id, item_reference, made_id, made_reference, reference
from stages.route.reads import Reads
from stages.route.working import ordinals
from stages.stored import text_hash

_RETIRABLE = frozenset({*ITEM_KINDS, RecordKind.STRUCTURED, RecordKind.PERSONA})
"""What a decision may retire, beside all that consolidation made: never a turn itself (invariant 9)."""

_SAID = frozenset({*ITEM_KINDS, RecordKind.STRUCTURED, RecordKind.TURN})
"""Kinds that a turn says: the position of its record is known."""

DERIVED = frozenset({RecordKind.TOPIC, RecordKind.PERSONA})
"""Kinds that consolidation derives of others, which stay."""

_MANY = 64
"""Records of one key that are read: consolidation makes one, or a few in one run."""


@dataclass(frozen=True, slots=True)
class Source:
    """An open record: its reference where it may be retired, the hash of its text, the position of its turn."""

    number: int | None
    text: str
    said: int | None

    @property
    def is_said(self) -> bool:
        """Whether it is what a turn said, as far as is known, and not derived of that."""
        return self.said is not None


async def sources(reader: Reads, names: Collection[str], retired: Collection[str]) -> dict[str, Source]:
    """Return those of these records that are open; of the ``retired`` only what nothing has changed.

    Raises:
        Unavailable: if the index does not answer.
    """
    found = await reader.fetched(names)
    missing = set(names) - set(found)
    known = {name: _stored(reader, one, retired) for name, one in found.items() if one.until == OPEN}
    known |= {name: one for name, one in _recent(reader) if name in missing} if missing else {}
    fit = (name for name in known if not reader.is_closed(name) and (name not in retired or reader.is_open(name)))
    return {name: known[name] for name in fit}


def _stored(reader: Reads, found: Found, retired: Collection[str]) -> Source:
    record = found.record
    may = (record.kind in _RETIRABLE or record.run is not None) and found.changed is None and record.id in retired
    number = reference(reader.space, record.id, record.since, record) if may else None
    return Source(number, text_hash(record.text), said_at(record) if record.kind in _SAID else None)


def _recent(reader: Reads) -> Iterator[tuple[str, Source]]:
    """Give what the state knows of records that memory does not show yet."""
    for known, row in reader.rows:
        number = item_reference(known.position, row.ordinal)
        said = known.position - known.back(row.ordinal)
        yield item_id(reader.space, known.position, row.ordinal), Source(number, row.digest, said)
    for position, one in reader.made:
        made = Source(made_reference(position, one.row.ordinal), one.row.digest, one.said if one.is_item else None)
        yield made_id(reader.space, position, one.row.ordinal), made


async def references(reader: Reads, names: Collection[str]) -> dict[str, int]:
    """Return the references of what records stand for, closed as it is.

    Raises:
        Unavailable: if the index does not answer.
    """
    found = await reader.fetched(names)
    numbers = {name: reference(reader.space, name, one.record.since, one.record) for name, one in found.items()}
    if missing := set(names) - set(found):
        numbers |= {name: one.number for name, one in _recent(reader) if name in missing}
    return {name: number for name, number in numbers.items() if number is not None}


def unjudged(reader: Reads) -> dict[int, bool]:
    """Return the references of items that no router has seen, and whether they say that something changed.

    They are in working memory, or wait for what memory will show; so does what consolidation made of such.
    """
    queued = (message for queue in reader.state.working.queues for message in queue.messages)
    known = {
        item_reference(message.position, ordinal): bool(message.changes >> ordinal & 1)
        for message in (*queued, *reader.state.waiting)
        for ordinal in ordinals(message.route)
    }
    return known | {entry // 2: bool(entry % 2) for entry in reader.state.judging}


Named = tuple[str, str]
"""What stands for the kind and key of a topic or persona, and for its text."""


def name_of(record: RecordContent) -> Named | None:
    """Return what tells a topic or persona record from others; ``None`` of any other."""
    if record.key is None or record.kind not in DERIVED:
        return None
    return about_of(record.kind, record.key), text_hash(record.text)


async def standing(reader: Reads, records: Sequence[RecordContent]) -> dict[str, Named]:
    """Return the open topics and personas that are what some of ``records`` would be: a night is done once.

    Raises:
        Unavailable: if the index does not answer.
    """
    wanted = {name: record for record in records if (name := name_of(record)) is not None}
    found = dict[str, Named]()
    for record in wanted.values():
        key = record.key.attribute if record.key is not None else None
        where = reader.where(record.kind, key_attribute=key)
        owned = replace(where, owners=frozenset({record.owner}) if record.owner is not None else None)
        for one in await reader.matching(owned, _MANY):
            named = name_of(one.record)
            if named is not None and not reader.is_closed(one.record.id):
                found[one.record.id] = named
    recent = {made_id(reader.space, at, one.row.ordinal): (one.row.about, one.row.digest) for at, one in reader.made}
    found |= {name: named for name, named in recent.items() if not reader.is_closed(name)}
    return {name: named for name, named in found.items() if named in wanted}
