"""The structured records of the last turns that wrote some, as a later list or an edit is compared with them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b

from schemas.header import RecordRole, record_id
from schemas.localized import Localized
from schemas.space import Space
from schemas.structured import Form, Structured
from stages.contract import WINDOW
from stages.extract_per_view.structured import name, topic
from stages.packed import Packed
from stages.ring import PlacedModel, Ring
from stages.stored import short

TURNS = 8
"""Turns whose records are kept. Older ones can be compared again when memory shows them, W events after they came."""

KEPT_BYTES = 1_100
"""Bytes of a turn's records as they are stored, members where they fit: with eight such turns in the state, 140 bytes
for each turn of W. A list whose members do not fit can be superseded by a later list, but not edited until memory shows
it.
"""

NAMED = 24
"""Members whose names are kept: enough to tell whether two lists have most of them in common."""

PART = "listed"

_DIGEST = 3
_FOUR = 4
"""Characters of three bytes in base 64."""


class KeptRecord(Packed):
    """A structured record as it is compared.

    ``about`` stands for the topic of its heading (empty where it has none), ``names`` for its members
    (``names``), four characters each. ``revises`` is the id of the record whose place it took, ``rests`` are
    further turns (``short``) whose words it has. Heading, members and numbers are there where they had room.
    """

    ordinal: int
    form: str
    about: str
    names: str
    revision: int = 0
    revises: str = ""
    rests: tuple[str, ...] = ()
    heading: str = ""
    members: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class Listed(PlacedModel, Packed):
    """What a turn (``short``) wrote of them, in which branch; ``owner`` (``short``) is the agent whose they are.

    A revised turn keeps its entry without records: those of its former text are no more.
    """

    turn: str
    branch: int
    owner: str
    records: tuple[KeptRecord, ...] = ()


def listed(message: Localized, records: Sequence[Structured]) -> Listed:
    """Return what the state keeps of a turn's records."""
    rows = [_bare(ordinal, one) for ordinal, one in enumerate(records)]
    room = KEPT_BYTES - sum(_size(row) for row in rows)
    for at, one in enumerate(records):
        full = rows[at].model_copy(update={"heading": one.heading, "members": one.members, "numbers": one.numbers})
        more = _size(full) - _size(rows[at])
        if more <= room and not one.suspect:
            room, rows[at] = room - more, full
    return Listed(
        position=message.header.position,
        turn=short(message.normalized.turn.turn_id),
        branch=message.placement.branch,
        owner=short(records[0].owner) if records else "",
        records=tuple(rows),
    )


def _size(row: KeptRecord) -> int:
    return len(row.model_dump_json().encode()) + 1


def _bare(ordinal: int, one: Structured) -> KeptRecord:
    return KeptRecord(
        ordinal=ordinal,
        form=one.form.value,
        about=digest(topic(one.heading)),
        names="".join(names(one.members)),
        revision=one.revision,
        revises=one.revises or "",
        rests=tuple(short(turn) for turn in one.provenance[1:]),
    )


def kept_after(kept: Ring[Listed], message: Localized, entry: Listed) -> Ring[Listed]:
    """Return the ring after a turn: with its entry, without what a revised turn's former text listed."""
    position, revises = message.header.position, message.normalized.revises
    former = next((one for one in kept if one.position == revises), None) if revises is not None else None
    ring = kept if former is None else kept.replace(former.model_copy(update={"records": ()}))
    new = (entry,) if entry.records or revises is not None else ()
    if not new and not len(ring):
        return ring
    positions = [one.position for one in (*ring, *new)][-TURNS:]
    return ring.push(*new, keep_from=max(positions[0], position - WINDOW + 1))


def digest(text: str) -> str:
    """Return what stands for a text (4 characters, 24 bits); nothing for an empty one."""
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=_DIGEST).digest()).decode() if text else ""


def names(members: Sequence[str]) -> tuple[str, ...]:
    """Return what stands for all that the members say, then for the names of the first of them, in order."""
    return digest("\n".join(members)), *(digest(name(member)) for member in members[:NAMED])


def apart(joined: str) -> tuple[str, ...]:
    """Return names that are kept in one string."""
    return tuple(joined[at : at + _FOUR] for at in range(0, len(joined), _FOUR))


def structured_id(space: Space, position: int, ordinal: int) -> str:
    """Return the id that route gives a structured record."""
    return record_id(space, position, RecordRole.STRUCTURED, ordinal)


FAMILIES = {form: Form.LIST if form is Form.STEPS else form for form in Form}
"""Steps are a list that is done in order: an agent may number today what it had bullets for yesterday."""
