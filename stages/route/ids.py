"""Ids of the records that an event writes or names, and the short forms of ids and texts that the state keeps.

Client ids may be long and a state has 64 KB, so states hold digests; each says how many characters it takes.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.extracted import ItemKind, Key
from schemas.header import RecordRole, record_id
from schemas.memory import RecordContent, RecordKind
from schemas.space import Space
from stages.stored import hashed, short

MOST_ORDINALS = 1024
"""Ordinals that a reference can hold."""

_ROLES = (RecordRole.ITEM, RecordRole.CONSOLIDATED, RecordRole.STRUCTURED)
"""Roles of what can be retired; a reference has their place, so only add behind."""

_MARK = 13
"""Characters of a UUID that are kept: 48 bits of it."""


def turn_record_id(space: Space, position: int, piece: int = 0) -> str:
    """Return the id of the record of a turn's piece."""
    return record_id(space, position, RecordRole.TURN, piece)


def item_id(space: Space, position: int, ordinal: int) -> str:
    """Return the id of an item record."""
    return record_id(space, position, RecordRole.ITEM, ordinal)


def topic_id(space: Space, position: int, ordinal: int = 0) -> str:
    """Return the id of a topic record that the event at ``position`` wrote; a revision may write a second one."""
    return record_id(space, position, RecordRole.TOPIC, ordinal)


def structured_id(space: Space, position: int, ordinal: int) -> str:
    """Return the id of a structured record; extract_per_view names by the same what a later one takes the place of."""
    return record_id(space, position, RecordRole.STRUCTURED, ordinal)


def made_id(space: Space, position: int, ordinal: int) -> str:
    """Return the id of a record that consolidation made, or that a revision brought back."""
    return record_id(space, position, RecordRole.CONSOLIDATED, ordinal)


def reference(space: Space, name: str, since: int, record: RecordContent) -> int | None:
    """Return a record's id as a number that tells where it came with the event of ``since``; ``None`` if it can't.

    Only what consolidation retires is looked for: ids do not say their ordinals, so they are tried.
    """
    plain = RecordRole.STRUCTURED if record.kind is RecordKind.STRUCTURED else RecordRole.ITEM
    role = RecordRole.CONSOLIDATED if record.run is not None else plain
    numbers = (_number(since, ordinal, role) for ordinal in range(MOST_ORDINALS))
    return next((number for number in numbers if referred(space, number) == name), None)


def made_reference(position: int, ordinal: int) -> int:
    """Return the reference of a record that consolidation made."""
    return _number(position, ordinal, RecordRole.CONSOLIDATED)


def item_reference(position: int, ordinal: int) -> int:
    """Return the reference of an item of a turn."""
    return _number(position, ordinal, RecordRole.ITEM)


def _number(position: int, ordinal: int, role: RecordRole) -> int:
    return (position * MOST_ORDINALS + ordinal) * len(_ROLES) + _ROLES.index(role)


def position_of(number: int) -> int:
    """Return the position of the event that wrote what a reference names."""
    return number // len(_ROLES) // MOST_ORDINALS


@lru_cache(maxsize=4096)
def referred(space: Space, number: int) -> str:
    """Return the id that a reference stands for."""
    rest, role = divmod(number, len(_ROLES))
    position, ordinal = divmod(rest, MOST_ORDINALS)
    return record_id(space, position, _ROLES[role], ordinal)


def mark(name: str) -> str:
    """Return what the state keeps of a record's id (13 characters, 48 bits)."""
    return name[:_MARK]


@lru_cache(maxsize=1024)
def person(name: str) -> str:
    """Return what stands for a participant's id in the rows of turns (8 characters, 48 bits).

    Kept, since it is asked for some five times a turn, mostly for those who speak.
    """
    return hashed(short(name), 6)


def about_of(kind: ItemKind | RecordKind, key: Key) -> str:
    """Return what stands for a kind and a key wherever they were read from (7 characters, 40 bits)."""
    return hashed("\n".join((kind, short(key.owner), key.subject or "", key.attribute)), 5)
