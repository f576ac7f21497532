"""Ids of the records that an event writes or names, and the short forms of ids and texts that the state keeps.

Client ids may be long and a state has 64 KB, so states hold digests; each says how many characters it takes.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.extracted import ItemKind, Key
from schemas.header import RecordRole, record_id
from schemas.space import Space
from stages.stored import hashed, short

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


def mark(name: str) -> str:
    """Return what the state keeps of a record's id (13 characters, 48 bits)."""
    return name[:_MARK]


@lru_cache(maxsize=1024)
def person(name: str) -> str:
    """Return what stands for a participant's id in the rows of turns (8 characters, 48 bits).

    Kept, since it is asked for some five times a turn, mostly for those who speak.
    """
    return hashed(short(name), 6)


def about_of(kind: ItemKind, key: Key) -> str:
    """Return what stands for a kind and a key wherever they were read from (7 characters, 40 bits)."""
    return hashed("\n".join((kind, short(key.owner), key.subject or "", key.attribute)), 5)
