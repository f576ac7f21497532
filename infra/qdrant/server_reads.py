"""Exact reads of the server, as the embedded index makes them: ranked in memory, bodies from the server.

Bodies and facts of records are immutable. Their marks (closed, changed, left) are another process's to write at any
time: they are read with each record that is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from qdrant_client.models import Record, SparseVector

from infra.qdrant.batch import is_id
from infra.qdrant.columns import Stored
from infra.qdrant.conditions import selects_nothing
from infra.qdrant.edges import EDGE_FIELDS, EVENTS, edge_rows, holders, woven
from infra.qdrant.kept import Kept
from infra.qdrant.points import (
    FOUND_FIELDS,
    MARK_FIELDS,
    STORED_FIELDS,
    Payload,
    as_int8,
    as_stored,
    floats,
    found,
    match,
    parsed,
)
from infra.qdrant.ranking import MORE, SLACK, Ranked, cut
from infra.qdrant.server_calls import Server
from infra.qdrant.server_conditions import between, closed_between, condition
from infra.qdrant.server_residents import GrowingResidents, Part
from infra.qdrant.server_watermarks import FIELDS, position, watermark_id
from infra.qdrant.shard import DENSE, SPARSE
from schemas.memory import EdgeRow, RecordRow
from schemas.space import Space
from stages.ports import Filter, Found, Match
from stages.woven import NONE, Woven

_Read = tuple[RecordRow, Payload]


@dataclass
class ServerReads:
    """What both ports of reading are made of."""

    server: Server
    dimension: int
    residents: GrowingResidents = field(init=False)
    _rows: Kept[RecordRow] = field(default_factory=Kept)
    _edges: Kept[list[EdgeRow]] = field(default_factory=lambda: Kept(EVENTS))

    def __post_init__(self) -> None:
        """Let the spaces in memory be read from the server."""
        self.residents = GrowingResidents(self._stored, self._closed, self.watermark, self.dimension)

    async def _stored(self, part: Part) -> list[Stored]:
        where, vectors = between(part.space, part.above, part.up_to), [SPARSE, *([DENSE] if part.vectors else [])]
        return [_as_stored(point) async for point in self.server.all(part.space, where, STORED_FIELDS, vectors)]

    async def _closed(self, part: Part) -> dict[str, int]:
        where = closed_between(part.space, part.above, part.up_to)
        points = self.server.all(part.space, where, ["until"], [])
        return {str(point.id): (point.payload or {})["until"] async for point in points}

    async def watermark(self, space: Space) -> int:
        """Return the last position whose records are all there (-1: none)."""
        return (await self.watermarks([space]))[0]

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the watermark of each space, in order, with one request."""
        names = [watermark_id(space) for space in spaces]
        about = f"the watermark of {spaces[0]}" if len(spaces) == 1 else f"the watermarks of {len(spaces)} spaces"
        held = await self.server.retrieve(about, sorted(set(names)), FIELDS)
        return [position(held.get(key)) for key in names]

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[Ranked]:
        """Rank by dot product, for each vector."""
        if limit < 1 or selects_nothing(where):
            return [[] for _ in vectors]
        if resident := await self.residents.with_vectors(where.space, where.as_of):
            return resident.nearest(where, vectors, limit)
        ranked = await self._asked(where, vectors, limit)
        (await self.residents.of(where.space, where.as_of)).must_hold(where.space, ranked)
        return ranked

    async def _asked(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[Ranked]:
        """Ask the server, past all that may tie at the cut."""
        ranked: dict[int, Ranked] = {}
        asked = limit + SLACK
        while open_ := [place for place in range(len(vectors)) if place not in ranked]:
            questions = [floats(vectors[place]) for place in open_]
            answers = await self.server.nearest(where.space, condition(where), questions, asked)
            for place, points in zip(open_, answers, strict=True):
                if (best := cut(points, asked, limit)) is not None:
                    ranked[place] = best
            asked *= MORE
        return [ranked[place] for place in range(len(vectors))]

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[Ranked]:
        """Rank by BM25, for each list of tokens. The corpus: the records of these kinds, as of then."""
        if limit < 1 or selects_nothing(where):
            return [[] for _ in queries]
        resident = await self.residents.of(where.space, where.as_of)
        return [resident.worded(where, resident.values(where, tokens), limit) for tokens in queries]

    async def newest(self, where: Filter, limit: int) -> Ranked:
        """Return the newest records with score 0, ordered by (-since, id)."""
        if limit < 1 or selects_nothing(where):
            return []
        return (await self.residents.of(where.space, where.as_of)).newest(where, limit)

    async def found(self, where: Filter, ranked: Sequence[Ranked]) -> list[list[Found]]:
        """Return the records of ranked ids with what had happened to them, without one removed meanwhile."""
        read = await self._records(where.space, {key for hits in ranked for key, _ in hits})
        return [[found(*read[key], where.as_of, score) for key, score in hits if key in read] for hits in ranked]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that are in the space as of then, in the order asked."""
        read = await self._records(space, {key for key in record_ids if is_id(key)})
        asked = [read[key] for key in record_ids if key in read]
        return [found(row, marks, as_of) for row, marks in asked if row.space == space and row.since <= as_of]

    async def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        """Return the edges at these records that were there as of a position; what is kept is not read again."""
        if not record_ids or limit < 1:
            return NONE
        resident = await self.residents.of(space, as_of)
        ids = holders(resident, as_of, record_ids, limit)
        kept = self._edges.of(ids)
        unknown = [record_id for record_id in ids if record_id not in kept]
        contents = await self.server.retrieve(space, unknown, EDGE_FIELDS)
        read = {key: edge_rows(space, content) for key, content in contents.items()}
        self._edges.add(read)
        return woven(resident, as_of, kept | read, record_ids)

    async def _records(self, space: Space, ids: Collection[str]) -> dict[str, _Read]:
        """Return those of ``ids`` that are records, with their marks as they are now; bodies are kept."""
        kept = self._rows.of(ids)
        marks, whole = await asyncio.gather(
            self.server.retrieve(space, sorted(kept), MARK_FIELDS),
            self.server.retrieve(space, sorted(ids - kept.keys()), FOUND_FIELDS),
        )
        rows = {key: parsed(content) for key, content in whole.items() if "body" in content}
        self._rows.add(rows)
        contents: Mapping[str, Payload] = marks | whole
        return {key: (row, contents[key]) for key, row in (kept | rows).items() if key in contents}

    async def matched(self, where: Filter, ranked: Ranked) -> list[Match]:
        """Return the matches of ranked ids."""
        resident = await self.residents.of(where.space, where.as_of)
        return [match(key, resident.known(key), score) for key, score in ranked]


def _as_stored(point: Record) -> Stored:
    vectors = point.vector if isinstance(point.vector, dict) else {}
    weighed, dense = vectors.get(SPARSE), vectors.get(DENSE)
    pairs = zip(weighed.indices, weighed.values, strict=True) if isinstance(weighed, SparseVector) else ()
    weights = {dimension: round(value) for dimension, value in pairs}
    return as_stored(str(point.id), point.payload or {}, weights, as_int8(dense))
