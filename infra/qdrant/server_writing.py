"""A batch as updates that any number of writers may send, late and again, without undoing anything.

A worker that froze, lost its work to another and wakes up writes old rows last. So each update has its condition at the
server, judged point by point when its turn comes (measured on 1.19: both for ``update_mode`` and for the filter of a
request with several points, where those that fail it are left and those that are new are inserted):

- a record is inserted where there is none; one that is there has the same bytes and is left;
- a closing or a mark is set where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from qdrant_client.models import (
    FieldCondition,
    IsEmptyCondition,
    PointsList,
    PointStruct,
    SetPayload,
    SetPayloadOperation,
    SparseVector,
    UpdateMode,
    UpdateOperation,
    UpsertOperation,
)

from infra.qdrant.batch import Batch
from infra.qdrant.edges import laid
from infra.qdrant.points import floats, payload, sparse
from infra.qdrant.server_conditions import STILL_OPEN, lacks, record
from infra.qdrant.shard import DENSE, SPARSE
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space

STATE: Final = ["space", "kind", "until", "changed", "left"]

_POINTS: Final = 256
"""Points of one request: with vectors of 384 bytes about 1 MB."""

_MARKS: Final = 1024
"""Closings and marks of one request."""

_CLOSING: Final = frozenset({"until", "successor"})

Held = Mapping[str, dict[str, Any]]


def requests(batch: Batch, held: Held) -> Iterator[list[UpdateOperation]]:
    """Yield the updates of a batch, a list for each request: records, closings and marks, the turns' records last.

    There is at least one request, if an empty one. Those of a request are done in their order, and what is refused ends
    the rest (measured).

    ``held`` is what the index has of its records. It saves work only: what changes meanwhile is met by the conditions.

    Raises:
        ValueError: if a row's text cannot be written as JSON.
    """
    fresh = [_point(row, batch) for row in batch.records.values() if row.id not in held]
    turns = {row.id for row in batch.records.values() if row.kind is RecordKind.TURN}
    on_turns = list(_markings(batch, held, (key for key in batch.marks if key in turns)))
    on_others = list(_markings(batch, held, (key for key in batch.marks if key not in turns)))
    steps = (
        _inserts([point for point in fresh if point.id not in turns]),
        _chunks(on_others, _MARKS),
        _inserts([point for point in fresh if point.id in turns]),
        _chunks(on_turns, _MARKS),
    )
    parts = [part for step in steps for part in step]
    if len(fresh) <= _POINTS and len(on_turns) + len(on_others) <= _MARKS:  # one round trip for what a turn brings
        parts = [[operation for part in parts for operation in part]]
    yield from parts or [[]]


def _inserts(points: Sequence[PointStruct]) -> Iterator[list[UpdateOperation]]:
    for chunk in _chunks(points, _POINTS):
        yield [UpsertOperation(upsert=PointsList(points=chunk, update_mode=UpdateMode.INSERT_ONLY))]


def _chunks(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _point(row: RecordRow, batch: Batch) -> PointStruct:
    weighed = sparse(row)
    vectors: dict[str, Any] = {
        SPARSE: SparseVector(indices=list(weighed), values=[float(value) for value in weighed.values()])
    }
    if (vector := batch.vectors.get(row.id)) is not None:
        vectors[DENSE] = floats(vector)
    return PointStruct(id=row.id, vector=vectors, payload=laid(payload(row), batch.edges.get(row.id, ())))


def _markings(batch: Batch, held: Held, record_ids: Iterable[str]) -> Iterator[UpdateOperation]:
    for record_id in record_ids:
        for guard, fields in _guarded(batch.marks[record_id].changes(held.get(record_id, {}))):
            yield _set(batch.space, record_id, guard, fields)


def _guarded(changes: dict[str, Any]) -> Iterator[tuple[FieldCondition | IsEmptyCondition, dict[str, Any]]]:
    closing = {name: value for name, value in changes.items() if name in _CLOSING}
    if closing:
        yield STILL_OPEN, closing
    for name, value in changes.items():
        if name not in _CLOSING:
            yield lacks(name), {name: value}


def _set(
    space: Space, record_id: str, guard: FieldCondition | IsEmptyCondition, fields: dict[str, Any]
) -> UpdateOperation:
    return SetPayloadOperation(set_payload=SetPayload(payload=fields, filter=record(space, record_id, guard)))


def check(batch: Batch, held: Held) -> None:
    """Check a batch against what the index has of its records.

    Raises:
        ValueError: if one is of another space, or a mark names a record that is neither there nor in the batch.
    """
    for record_id, content in held.items():
        if content.get("space") != batch.space:
            msg = f"{batch.space}: record {record_id} is one of another space"
            raise ValueError(msg)
        if "kind" in content:
            msg = f"{batch.space}: {record_id} is no record, but the {content['kind']} of the space"
            raise ValueError(msg)
    for record_id in batch.marks.keys() - batch.records.keys() - held.keys():
        msg = f"{batch.space}: a row closes or marks record {record_id}, which is not there"
        raise ValueError(msg)
