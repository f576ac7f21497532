"""The embedded index: the real engine in process, behind the ports of reading and writing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from qdrant_edge import Point, UpdateOperation

from infra.qdrant.batch import Batch, Mark, collect
from infra.qdrant.columns import Stored
from infra.qdrant.conditions import counted
from infra.qdrant.edges import laid
from infra.qdrant.folder import Manifest, check, claim, release
from infra.qdrant.holding import Holding
from infra.qdrant.points import as_stored, payload, point, sparse
from infra.qdrant.reads import Reads
from infra.qdrant.room import room_to_open, room_to_write
from infra.qdrant.shard import Shard
from infra.qdrant.watermarks import FILE, Watermarks
from schemas.committed import Committed
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter, Found, Match
from stages.woven import Woven

_POINTS: Final = 256
"""Points of one update: 256 take about 15 ms, in which nothing else of the process runs."""

_STATE: Final = ["space", "since", "until", "changed", "left"]


class EdgeIndex:
    """``History``, ``Search`` and ``IndexWriter`` on a Qdrant Edge shard. All searches are exact.

    A folder has one owner at a time, and is used from one event loop. Records above a space's watermark are those of a
    write that did not finish: they are written again whole; what is at or below it is never written over.
    """

    def __init__(self, folder: Path, shard: Shard, watermarks: Watermarks, dimension: int) -> None:
        self._folder = folder
        self._shard = shard
        self._watermarks = watermarks
        self._dimension = dimension
        self._reads = Reads(shard, dimension)
        self._flushing = asyncio.Lock()
        self._written = 0
        self._flushed = 0

    @classmethod
    def open(cls, folder: Path, *, generation: int, model: str, dimension: int) -> Self:
        """Open the index in ``folder``, or make one for this generation, model and dimension (bytes of a vector).

        Raises:
            IndexMismatchError: if the folder holds another one; the message names both.
            IndexInUseError: if this process has the folder open.
            Unavailable: if the engine cannot open it, or its disk is full.
        """
        room_to_open(folder)
        real = claim(folder)
        try:
            check(real, Manifest(generation=generation, model=model, dimension=dimension))
            return cls(real, Shard.open(real, dimension), Watermarks.open(real / FILE), dimension)
        except BaseException:
            release(real)
            raise

    async def close(self) -> None:
        """Make everything durable and let go of the folder. Later calls raise ``Unavailable``."""
        async with self._flushing:
            if self._shard.is_open:
                try:
                    self._shard.close()
                finally:  # whatever its disk says, another try in this process must be able to open it
                    self._watermarks.close()
                    release(self._folder)

    async def optimize(self) -> None:
        """Merge segments. Call it when nothing waits, such as after a large import: it stalls the whole process.

        Measured at 30,000 records: 4 to 7 s; small spaces are searched as fast without, the largest gains a third.
        """
        async with self._flushing:
            await asyncio.to_thread(self._shard.optimize)

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        """For each int8 vector return the ``limit`` records of greatest dot product."""
        return self._reads.found(self._reads.nearest(where, vectors, limit), where.as_of)

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        """For each list of tokens return the ``limit`` best records by BM25."""
        return self._reads.found(self._reads.lexical(where, queries, limit), where.as_of)

    async def dense(self, where: Filter, vector: bytes, limit: int) -> list[Match]:
        """Return the records of greatest dot product with an int8 vector, best first."""
        return self._reads.matched(where.space, self._reads.nearest(where, [vector], limit)[0])

    async def sparse(self, where: Filter, tokens: Sequence[str], limit: int) -> list[Match]:
        """Return the best records by BM25 over these tokens, best first."""
        return self._reads.matched(where.space, self._reads.lexical(where, [tokens], limit)[0])

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest ``limit`` records that the filter alone selects, ordered by (-since, id)."""
        return self._reads.found([self._reads.newest(where, limit)], where.as_of)[0]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that exist as of ``as_of``, closed ones too, in the order asked."""
        return self._reads.fetch(space, as_of, record_ids)

    async def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        """Return the edges at these records as of a position: see ``stages.ports.Search``."""
        return self._reads.edges(space, as_of, record_ids, limit)

    async def watermark(self, space: Space) -> int:
        """Return the last position whose records are all there (-1: none)."""
        self._shard.must_be_open()
        return self._watermarks.get(space)

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the watermark of each space, in order."""
        return [await self.watermark(space) for space in spaces]

    async def held(self, space: Space, as_of: int) -> Holding:
        """Count the records of a space that came up to a position, closed ones too."""
        return Holding(*(self._shard.count(one) for one in counted(space, as_of)))

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        """Write the rows of these events durably: records, closings and marks, turns last, then the watermark.

        Raises:
            Unavailable: if the index does not answer, or its disk is nearly full.
            ValueError: if a row is refused, or a closing names a record that is not there; nothing is written then.
        """
        rows = collect(space, batch, self._dimension)
        if not batch:
            return
        room_to_write(self._folder, len(rows.records) + len(rows.marks))
        self._apply(rows)
        await self._durable()
        self._watermarks.rise(space, rows.last)

    def _apply(self, batch: Batch) -> None:
        held = self._held(batch)
        fresh = [row for row in batch.records.values() if self._is_fresh(row, batch, held)]
        new: list[Stored] = []
        turns = [row for row in fresh if row.kind is RecordKind.TURN]
        others = [row for row in fresh if row.kind is not RecordKind.TURN]
        changes = dict(_changes(batch, {row.id for row in fresh}, held))
        marking = [UpdateOperation.set_payload([record_id], fields) for record_id, fields in changes.items()]
        operations = [*_upserts(others, batch, new), *marking, *_upserts(turns, batch, new)]
        if any(row.id in held for row in fresh):
            self._reads.residents.forget(batch.space)  # they counted what a broken write had left
        self._reads.written({row.id for row in fresh} | batch.marks.keys())
        try:
            for operation in operations:
                self._shard.update(operation)
            self._must_be_there(batch)
        except BaseException:
            self._reads.residents.forget(batch.space)
            raise
        closed = {record_id: fields["until"] for record_id, fields in changes.items() if "until" in fields}
        self._reads.residents.add(batch.space, new, closed)

    def _held(self, batch: Batch) -> dict[str, dict[str, Any]]:
        """Return the state of the batch's records in the index.

        Raises:
            ValueError: if one is of another space, or a mark names a record that is neither there nor in the batch.
        """
        ids = batch.records.keys() | batch.marks.keys()
        points = self._shard.retrieve(sorted(ids), _STATE)
        held = {record_id: content for record_id, content in points.items() if "space" in content}
        for record_id in (record_id for record_id, content in held.items() if content["space"] != batch.space):
            msg = f"{batch.space}: record {record_id} is one of another space"
            raise ValueError(msg)
        for record_id in batch.marks.keys() - batch.records.keys() - held.keys():
            msg = f"{batch.space}: a row closes or marks record {record_id}, which is not there"
            raise ValueError(msg)
        return held

    def _must_be_there(self, batch: Batch) -> None:
        """Read the batch back: an engine that passes over an update says nothing. Asking again gets it through."""
        ids = batch.records.keys() | batch.marks.keys()
        held = self._shard.retrieve(sorted(ids), _STATE)
        for record_id in ids:
            if record_id not in held or batch.marks.get(record_id, Mark()).changes(held[record_id]):
                msg = f"{batch.space}: the index passed over an update of record {record_id}"
                raise Unavailable(msg)

    def _is_fresh(self, row: RecordRow, batch: Batch, held: dict[str, dict[str, Any]]) -> bool:
        return row.id not in held or held[row.id]["since"] > self._watermarks.get(batch.space)

    async def _durable(self) -> None:
        """Flush what was written so far; writers that wait at the same time share one flush."""
        self._written += 1
        mine = self._written
        async with self._flushing:
            if self._flushed < mine:
                reached = self._written
                await asyncio.to_thread(self._shard.flush)
                self._flushed = reached


def _upserts(rows: Sequence[RecordRow], batch: Batch, new: list[Stored]) -> Iterator[UpdateOperation]:
    points = [_point(row, batch, new) for row in rows]
    for start in range(0, len(points), _POINTS):
        yield UpdateOperation.upsert_points(points[start : start + _POINTS])


def _point(row: RecordRow, batch: Batch, new: list[Stored]) -> Point:
    content = laid(payload(row), batch.edges.get(row.id, ()))
    content |= batch.marks.get(row.id, Mark()).changes(content)
    weighed = sparse(row)
    vector = batch.vectors.get(row.id)
    new.append(as_stored(row.id, content, weighed, vector))
    return point(row, vector, weighed, content)


def _changes(batch: Batch, fresh: set[str], held: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the batch changes of records that were there before."""
    for record_id, mark in batch.marks.items():
        if record_id not in fresh and (fields := mark.changes(held[record_id])):
            yield record_id, fields
