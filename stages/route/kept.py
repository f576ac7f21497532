"""What the state keeps of a turn's items, and how it is read again as evidence.

Every item has a row, so that none is forgotten: one without room for what it is compared by says that there is
something on its key which only memory can judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schemas.extracted import PREFERENCE_PREFIX, ItemKind, Key
from schemas.normalized import Attitude
from schemas.space import Space
from stages.route.evidence import Evidence
from stages.route.ids import item_id, made_id, person
from stages.route.made import Made
from stages.route.row import KEPT_BYTES, KEPT_VECTORS, TEXT_BYTES, KeptItem
from stages.route.state import Earlier, KeptVector, Known
from stages.stored import text_hash
from stages.text.beginning import beginning

_KINDS = tuple(ItemKind)
_ATTITUDES = tuple(Attitude)
_NEGATED, _CHANGES, _SUSPECT, _OTHERS = (1 << bit for bit in range(4))
_KIND_AT, _ATTITUDE_AT, _TENTATIVE = 4, 6, 1 << 8
"""Bits of ``flags``: four that are yes or no (``_OTHERS``: about somebody else than its speaker), kind, attitude, and
whether it is a guess."""


def rows_of(
    speaker: str, items: Sequence[tuple[int, Evidence]], earlier: Sequence[Earlier] = ()
) -> tuple[tuple[KeptItem, ...], tuple[KeptVector, ...]]:
    """Return the rows and vectors of a turn's items, given with their ordinals; some may be those of ``earlier`` turns.

    Within ``KEPT_BYTES``, attributes first, rows get what their item is compared by.
    """
    before = {one.back: one.speaker for one in earlier}
    rows = {ordinal: _bare(before.get(one.back, speaker), ordinal, one) for ordinal, one in items}
    sizes = {ordinal: _size(row) for ordinal, row in rows.items()}
    room = KEPT_BYTES - sum(sizes.values())
    for ordinal, one in sorted(items, key=lambda pair: (pair[1].kind is not ItemKind.ATTRIBUTE, pair[0])):
        full = _full(rows[ordinal], one)
        more = _size(full) - sizes[ordinal]
        if more <= room and not one.suspect:
            room -= more
            rows[ordinal] = full
    worded = [(ordinal, one) for ordinal, one in items if rows[ordinal].text and one.vector is not None]
    vectors = (
        KeptVector(position=one.position, ordinal=ordinal, vector=one.vector or b"")
        for ordinal, one in worded[:KEPT_VECTORS]
    )
    return tuple(rows.values()), tuple(vectors)


def _size(row: KeptItem) -> int:
    return len(row.model_dump_json().encode()) + 1  # a comma


def _bare(speaker: str, ordinal: int, one: Evidence) -> KeptItem:
    flags = _NEGATED * one.negated | _CHANGES * one.changes | _SUSPECT * one.suspect
    flags |= _TENTATIVE * one.tentative
    flags |= _OTHERS * (person(one.key.owner) != speaker)
    flags |= _KINDS.index(one.kind) << _KIND_AT | _ATTITUDES.index(one.attitude) << _ATTITUDE_AT
    return KeptItem(ordinal=ordinal, flags=flags, digest=text_hash(one.text), about=one.about)


def _full(bare: KeptItem, one: Evidence) -> KeptItem:
    by_words = one.value is None and not (one.object is not None and one.key.attribute.startswith(PREFERENCE_PREFIX))
    return bare.model_copy(
        update={
            "attribute": one.key.attribute,
            "subject": one.key.subject or "",
            "value": one.value or "",
            "object": one.object or "",
            "start": one.start or 0,
            "end": one.end or 0,
            "text": beginning(one.text, TEXT_BYTES) if by_words else "",
        }
    )


def of_row(space: Space, known: Known, row: KeptItem, owner: str, vector: bytes | None) -> Evidence:
    """Return an item of a recent turn as evidence; ``owner`` is the id of whom it is about, where that is known."""
    return Evidence(
        id=item_id(space, known.position, row.ordinal),
        position=known.position,
        kind=kind_of(row),
        about=row.about,
        key=Key(owner=owner, subject=row.subject or None, attribute=row.attribute),
        text=row.text,
        value=row.value or None,
        object=row.object or None,
        negated=bool(row.flags & _NEGATED),
        attitude=_ATTITUDES[row.flags >> _ATTITUDE_AT & 3],
        start=row.start if row.end else None,
        end=row.end or None,
        at=known.at,
        vector=vector,
        changes=bool(row.flags & _CHANGES),
        suspect=is_suspect(row),
        back=known.back(row.ordinal),
        tentative=is_guess(row),
    )


def made_row(ordinal: int, one: Evidence, *, full: bool) -> KeptItem:
    """Return the row of an item that consolidation made, ``full`` with what it is compared by."""
    bare = _bare("", ordinal, one)
    return _full(bare, one) if full and not one.suspect else bare


def made_ordinal(ordinal: int) -> int:
    """Return the ordinal under which the vector of such an item is kept: those of turns count from 0."""
    return -1 - ordinal


def of_made(space: Space, position: int, made: Made, owner: str, vector: bytes | None) -> Evidence:
    """Return an item that the event of ``position`` made as evidence: it stands where it was said."""
    said = Known(position=made.said, turn_id="", speaker="", branch=0, at=made.at)
    told = of_row(space, said, made.row, owner, vector)
    return replace(told, id=made_id(space, position, made.row.ordinal))


def kind_of(row: KeptItem) -> ItemKind:
    """Return the kind of an item."""
    return _KINDS[row.flags >> _KIND_AT & 3]


def is_suspect(row: KeptItem) -> bool:
    """Tell whether an item is suspect: such ones are no router's business."""
    return bool(row.flags & _SUSPECT)


def is_guess(row: KeptItem) -> bool:
    """Tell whether an item is tentative: nobody said it."""
    return bool(row.flags & _TENTATIVE)


def of_its_speaker(row: KeptItem) -> bool:
    """Tell whether an item is about whoever said it."""
    return not row.flags & _OTHERS


def owner_of(known: Known, row: KeptItem) -> str:
    """Return whom an item is about (``person``); empty where the state does not know."""
    return known.said_by(row.ordinal) if of_its_speaker(row) else ""
