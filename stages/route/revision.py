"""What a revised turn takes back at once: its records, items it no longer yields, windows and topics that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schemas.extracted import Extracted
from schemas.memory import ITEM_KINDS, CloseCause, ClosedRow, RecordKind, RecordRow
from stages.route.ids import item_id, made_id, referred, structured_id, topic_id, turn_record_id
from stages.route.made import turn_mark
from stages.route.restoring import Absorbed
from stages.route.sources import DERIVED
from stages.route.state import Known
from stages.route.structured import former_structured, resting_on
from stages.route.targets import Reader
from stages.route.topics import topic_name
from stages.shown import window_id
from stages.stored import text_hash

_MANY = 256
"""Records of one turn that are asked for at first: pieces, items and the three windows that show it. A turn of over
150,000 characters has more, and then more are asked for."""


@dataclass(frozen=True, slots=True)
class Former:
    """The former revision of a turn: its open records, its items with the digests of their texts, its topic.

    ``structured`` are what it listed, in order, ``edited`` what later turns made of that. ``made`` are what
    consolidation made of it and others, beside ``items``, and ``absorbed`` what merged records of it stood for.
    """

    position: int
    turns: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    windows: tuple[str, ...] = ()
    topic: str = ""
    structured: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    absorbed: dict[str, Absorbed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What a revision closes, and which of the former items it says too (text digest to record id).

    ``orphaned`` is the topic whose record it closes, since that rested on the former text; ``absorbed`` is what the
    merged records that it closes stood for.
    """

    closed: tuple[ClosedRow, ...] = ()
    kept: dict[str, str] = field(default_factory=dict)
    orphaned: str = ""
    absorbed: dict[str, Absorbed] = field(default_factory=dict)


async def withdraw(reader: Reader, extracted: Extracted) -> Withdrawal:
    """Return what the revision at ``reader.position`` closes: open records only, each once."""
    normalized = extracted.localized.normalized
    if normalized.revises is None:
        return Withdrawal()
    former = await _former(reader, normalized.revises, normalized.turn.turn_id)
    said = {text_hash(item.text) for item in extracted.items}
    kept = {text: name for name, text in former.items if text in said and not reader.is_closed(name)}
    items = [name for name, text in former.items if kept.get(text) != name]
    born = former.topic if former.topic != topic_name(normalized.z.topic) else ""
    topics = [topic_id(reader.space, former.position)] if born else []
    gone = [*former.turns, *items, *former.windows, *topics, *former.structured, *former.edited, *former.made]
    after = _successors(reader, former, len(extracted.structured))
    rows = tuple(_closing(reader, name, after.get(name)) for name in dict.fromkeys(gone) if _open(reader, name))
    absorbed = {row.id: former.absorbed[row.id] for row in rows if row.id in former.absorbed}
    return Withdrawal(closed=rows, kept=kept, orphaned=born, absorbed=absorbed)


def _open(reader: Reader, name: str) -> bool:
    return not reader.is_closed(name)


def _successors(reader: Reader, former: Former, structured: int) -> dict[str, str]:
    """Return what takes the place of former records: the turn that of its pieces, each list that of the same number."""
    lists = (structured_id(reader.space, reader.position, ordinal) for ordinal in range(structured))
    after = dict(zip(former.structured, lists, strict=False))
    return after | dict.fromkeys(former.turns, turn_record_id(reader.space, reader.position))


def _closing(reader: Reader, name: str, successor: str | None) -> ClosedRow:
    return ClosedRow(
        space=reader.space,
        id=name,
        until=reader.position,
        cause=CloseCause.REVISION,
        successor=successor,
        reason="its turn was revised",
    )


async def _former(reader: Reader, position: int, turn_id: str) -> Former:
    """Return the former revision, from the state if it is recent and from memory otherwise.

    Windows are in both: one of a turn that memory shows may have been completed since.
    """
    known, said = reader.state.turn(position), _said_at(reader, position)
    stored = await _stored(reader, turn_id)
    windows = (*_recent_windows(reader, position), *_named(stored, RecordKind.WINDOW))
    edited = [record.id for record in stored if _is_edited(record, turn_id)] + resting_on(reader, turn_id)
    if known is not None:
        former = replace(_from_state(reader, known, said, windows), edited=tuple(edited))
        return _with_made(reader, former, stored, turn_id)
    items = (*((record.id, text_hash(record.text)) for record in stored if record.kind in ITEM_KINDS), *said)
    topics = (record for record in stored if record.kind is RecordKind.TOPIC and record.run is None)
    born = [record for record in topics if record.since == position]
    former = Former(
        position=position,
        turns=tuple(record.id for record in stored if record.kind is RecordKind.TURN and record.since == position),
        items=items,
        windows=windows,
        topic=born[0].key.attribute.partition(":")[2] if born and born[0].key is not None else "",
        structured=_in_order(reader, position, [r.id for r in stored if r.kind is RecordKind.STRUCTURED]),
        edited=tuple(edited),
    )
    return _with_made(reader, former, stored, turn_id)


def _with_made(reader: Reader, former: Former, stored: Sequence[RecordRow], turn_id: str) -> Former:
    """Return it with what consolidation made of the turn: in memory, and in the last W events."""
    old = [record for record in stored if record.run is not None]
    mark = turn_mark(turn_id)
    new = [(made_id(reader.space, at, one.row.ordinal), one) for at, one in reader.made if one.rests_on(mark)]
    items = [(record.id, text_hash(record.text)) for record in old if record.kind in ITEM_KINDS]
    items += [(name, one.row.digest) for name, one in new if one.is_item]
    others = [record.id for record in old if record.kind not in ITEM_KINDS]
    merged = (record for record in old if record.kind not in DERIVED)  # the next night makes the others again
    absorbed: dict[str, Absorbed] = {record.id: dict.fromkeys(record.stands_for) for record in merged}
    absorbed |= {name: {referred(reader.space, n): n for n in one.stood} for name, one in new if one.stood}
    return replace(
        former,
        items=(*former.items, *items),
        made=(*others, *(name for name, one in new if not one.is_item)),
        absorbed=absorbed,
    )


def _is_edited(record: RecordRow, turn_id: str) -> bool:
    return record.kind is RecordKind.STRUCTURED and record.provenance[0] != turn_id


def _in_order(reader: Reader, position: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return the structured records that the event at ``position`` wrote, by their ordinals, which only ids know."""
    own = (structured_id(reader.space, position, ordinal) for ordinal in range(len(names)))
    return tuple(name for name in own if name in names)


def _said_at(reader: Reader, position: int) -> list[tuple[str, str]]:
    """Return the recent items that the turn of ``position`` says, with whichever event they came."""
    rows = ((known, row) for known in reader.state.turns for row in known.items)
    return [
        (item_id(reader.space, known.position, row.ordinal), row.digest)
        for known, row in rows
        if known.position - known.back(row.ordinal) == position
    ]


def _from_state(reader: Reader, known: Known, said: list[tuple[str, str]], windows: tuple[str, ...]) -> Former:
    space, position = reader.space, known.position
    return Former(
        position=position,
        turns=tuple(turn_record_id(space, position, piece) for piece in range(known.pieces)),
        items=(*said, *known.kept),
        windows=windows,
        topic=known.topic if known.topic_record == topic_id(space, position) else "",
        structured=tuple(former_structured(reader, known)),
    )


def _named(stored: Sequence[RecordRow], kind: RecordKind) -> list[str]:
    return [record.id for record in stored if record.kind is kind]


def _recent_windows(reader: Reader, position: int) -> list[str]:
    """Return the windows that show the turn of ``position`` and were written in the last W events."""
    windows = (window for known in reader.state.turns for window in known.windows)
    return [window_id(reader.space, one.event, one.ordinal) for one in windows if position in one.turns]


async def _stored(reader: Reader, turn_id: str) -> list[RecordRow]:
    kinds = (
        RecordKind.TURN,
        RecordKind.WINDOW,
        RecordKind.TOPIC,
        RecordKind.STRUCTURED,
        RecordKind.PERSONA,
        *ITEM_KINDS,
    )
    where = reader.where(*kinds, turn_ids=frozenset({turn_id}))
    found, limit = await reader.matching(where, _MANY), _MANY
    while len(found) == limit:
        limit *= _MANY
        found = await reader.matching(where, limit)
    return [each.record for each in found]
