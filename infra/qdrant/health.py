"""Whether an index on this disk keeps what is written to it, and how far the index of a home reaches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from infra.home import read_only
from infra.qdrant.edge import EdgeIndex
from infra.qdrant.watermarks import FILE
from schemas.committed import Committed
from schemas.header import EventKind, Header, RecordRole, record_id
from schemas.memory import RecordKind, RecordRow
from schemas.routed import RecordVector
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter
from stages.text.tokens import tokens

_SPACE: Final = Space("anabranch/doctor")
_VECTOR: Final = bytes(range(16))
_TURNS: Final = frozenset({RecordKind.TURN})


async def writes_and_reads(folder: Path) -> None:
    """Write a record to a new index in ``folder``, close it, open it again, and find the record there in every way.

    Raises:
        Unavailable: if the engine fails, or does not give back what it was given.
    """
    given = _record()
    index = _opened(folder)
    try:
        await index.write(_SPACE, [_event(given)])
    finally:
        await index.close()
    index = _opened(folder)
    try:
        await _found(index, given)
    finally:
        await index.close()


async def _found(index: EdgeIndex, given: RecordRow) -> None:
    where = Filter(_SPACE, 0, _TURNS)
    found = {
        "by its id": [one.record for one in await index.fetch(_SPACE, 0, [given.id])],
        "by its words": [one.record for one in (await index.lexical(where, [tokens(given.text)], 1))[0]],
        "by its vector": [one.record for one in (await index.nearest(where, [_VECTOR], 1))[0]],
    }
    for way, rows in found.items():
        if rows != [given]:
            msg = f"a record that was written and flushed is not found {way}"
            raise Unavailable(msg)
    if await index.watermark(_SPACE) != 0:
        msg = "the watermark of a write that was flushed is not there"
        raise Unavailable(msg)


def reached(folder: Path) -> dict[str, int]:
    """Return the position up to which the index in ``folder`` holds each space; nothing of what is not there."""
    path = folder / FILE
    if not path.is_file():
        return {}
    with read_only(path) as database:
        return dict(database.execute("SELECT space, position FROM watermark"))


def lacking(held: Mapping[str, int], remembered: Mapping[str, int]) -> list[str]:
    """Return the spaces of which an index that reaches to ``held`` lacks something that memory holds."""
    return [space for space, position in remembered.items() if held.get(space, -1) < position]


def _opened(folder: Path) -> EdgeIndex:
    return EdgeIndex.open(folder, generation=0, model="doctor", dimension=len(_VECTOR))


def _event(row: RecordRow) -> Committed:
    header = Header(space=_SPACE, position=0, kind=EventKind.TURN, event_id="doctor", offset=1)
    return Committed(header=header, rows=(row,), vectors=(RecordVector(record_id=row.id, vector=_VECTOR),))


def _record() -> RecordRow:
    return RecordRow(
        space=_SPACE,
        id=record_id(_SPACE, 0, RecordRole.TURN),
        kind=RecordKind.TURN,
        text="The doctor writes one line and looks for it.",
        owner=None,
        speaker=None,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        provenance=("doctor",),
        since=0,
    )
