"""A record that consolidation makes or a revision brings back: its rows, and what the state keeps of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemas.extracted import ItemKind
from schemas.memory import ITEM_KINDS, EdgeRow, EdgeType, LeftRow, RecordContent, RecordKind, RecordRow
from stages.ports import Found
from stages.route.evidence import of_found, said_at
from stages.route.ids import about_of, made_id, turn_record_id
from stages.route.kept import made_ordinal, made_row
from stages.route.made import OTHER_KIND, Made, turn_mark
from stages.route.reads import Reads
from stages.route.row import KEPT_VECTORS, KeptItem
from stages.route.state import KeptVector
from stages.route.strengths import LISTED, MENTIONS, SUPPORT
from stages.stored import text_hash


def record_of(reader: Reads, ordinal: int, content: RecordContent) -> RecordRow:
    """Return a record of this event with this content."""
    fields = {name: getattr(content, name) for name in RecordContent.model_fields}
    return RecordRow(
        space=reader.space, id=made_id(reader.space, reader.position, ordinal), since=reader.position, **fields
    )


def made_of(record: RecordRow, ordinal: int, stood: Iterable[int], *, full: bool) -> Made:
    """Return what the state keeps of such a record; ``stood`` are the references of what it stands for."""
    item = of_found(Found(record=record))
    if item is not None:
        row = made_row(ordinal, item, full=full)
    else:
        about = "" if record.key is None else about_of(record.kind, record.key)
        row = KeptItem(ordinal=ordinal, flags=OTHER_KIND, digest=text_hash(record.text), about=about)
    return Made(
        row=row,
        turns="".join(dict.fromkeys(map(turn_mark, record.provenance))),
        stood=tuple(stood),
        said=said_at(record),
        at=int(record.at.timestamp()) if row.attribute else 0,
    )


def left(reader: Reads, record: RecordRow) -> Iterator[LeftRow]:
    """Give the row that says that an item is in nobody's working memory."""
    if record.kind in ITEM_KINDS:
        yield LeftRow(space=reader.space, id=record.id, position=reader.position)


def resting(reader: Reads, record: RecordRow, said: Iterable[int]) -> Iterator[EdgeRow]:
    """Give the edges from turns, named by position, to a record that rests on them."""
    kind, strength = EdgeType.SUPPORTS, LISTED
    if record.kind is RecordKind.TOPIC:
        kind, strength = EdgeType.MENTIONS, MENTIONS
    elif record.kind is not RecordKind.STRUCTURED:
        of = ItemKind(record.kind.value) if record.kind in ITEM_KINDS else ItemKind.ATTRIBUTE
        strength = SUPPORT[of]
    for position in sorted(set(said)):
        yield reader.edge(turn_record_id(reader.space, position), record.id, kind, strength)


def kept_vectors(position: int, made: Iterable[Made], vectors: dict[int, bytes]) -> tuple[KeptVector, ...]:
    """Return the vectors kept of what an event made, given by ordinal: of items that are compared by their words."""
    worded = [one.row.ordinal for one in made if one.row.text and one.row.ordinal in vectors]
    return tuple(
        KeptVector(position=position, ordinal=made_ordinal(ordinal), vector=vectors[ordinal])
        for ordinal in worded[:KEPT_VECTORS]
    )
