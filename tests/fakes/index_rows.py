"""Events for tests of an index: short to write, complete in what the ports look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.committed import Committed
from schemas.extracted import Key
from schemas.header import EventKind, Header, record_id
from schemas.memory import ChangedRow, CloseCause, ClosedRow, LeftRow, RecordKind, RecordRow, Row
from schemas.routed import RecordVector
from schemas.space import Space

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def record(space: Space, since: int, text: str = "hello", ordinal: int = 0, **fields: Any) -> RecordRow:
    kind = fields.pop("kind", RecordKind.TURN)
    return RecordRow(
        space=space,
        id=fields.pop("id", record_id(space, since, kind.value, ordinal)),
        kind=kind,
        text=text,
        owner=fields.pop("owner", None),
        speaker=None,
        at=START + timedelta(minutes=since),
        provenance=fields.pop("provenance", (f"t{since}",)),
        since=since,
        **fields,
    )


def key(attribute: str, subject: str | None = None) -> Key:
    return Key(owner="mia", subject=subject, attribute=attribute)


def closed(row: RecordRow, until: int, successor: str | None = "better") -> ClosedRow:
    return ClosedRow(space=row.space, id=row.id, until=until, cause=CloseCause.CORRECTION, successor=successor)


def left(row: RecordRow, position: int) -> LeftRow:
    return LeftRow(space=row.space, id=row.id, position=position)


def changed(row: RecordRow, position: int, successor: str = "new") -> ChangedRow:
    return ChangedRow(space=row.space, id=row.id, position=position, successor=successor)


def event(
    space: Space, position: int, rows: Sequence[Row] = (), vectors: Sequence[tuple[RecordRow, bytes]] = ()
) -> Committed:
    header = Header(space=space, position=position, kind=EventKind.TURN, event_id=f"t{position}", offset=position)
    given = tuple(RecordVector(record_id=row.id, vector=vector) for row, vector in vectors)
    return Committed(header=header, rows=tuple(rows), vectors=given)
