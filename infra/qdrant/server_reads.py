"""Exact reads of the server, as the embedded index makes them. Only what cannot change is kept from one to the next.

Bodies and facts of records are immutable. Their marks (closed, changed, left) are another process's to write at any
time: they come with each search, or are read with each fetch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from qdrant_client.models import SparseVector

from infra.qdrant import bm25
from infra.qdrant.batch import is_id
from infra.qdrant.conditions import selects_nothing
from infra.qdrant.kept import MATCHES, ROWS, keep
from infra.qdrant.points import (
    FOUND_FIELDS,
    MARK_FIELDS,
    STATISTICS_FIELDS,
    Facts,
    Payload,
    counted,
    facts,
    floats,
    found,
    match,
    parsed,
)
from infra.qdrant.ranking import MORE, SLACK, Ranked, by_dot, by_words, cut, name, number
from infra.qdrant.server_calls import Server, Vector
from infra.qdrant.server_conditions import between, condition
from infra.qdrant.server_statistics import GrowingStatistics
from infra.qdrant.server_watermarks import FIELDS, position, watermark_id
from infra.qdrant.shard import DENSE, SPARSE
from infra.qdrant.statistics import Entry
from schemas.memory import RecordRow
from schemas.space import Space
from stages.ports import Filter, Found, Match

_NEWEST_FIELDS = ["since", *MARK_FIELDS]


@dataclass(slots=True)
class Hits:
    """Ranked ids, a list for each question, and the marks that came with them (empty where none were asked for)."""

    ranked: list[Ranked]
    marks: dict[str, Payload] = field(default_factory=dict)


@dataclass
class ServerReads:
    """What both ports of reading are made of."""

    server: Server
    statistics: GrowingStatistics = field(init=False)
    _facts: dict[str, Facts] = field(default_factory=dict)
    _rows: dict[str, RecordRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the statistics read their spaces from the server."""
        self.statistics = GrowingStatistics(self._entries, self.watermark)

    async def _entries(self, space: Space, above: int, up_to: int) -> list[Entry]:
        points = self.server.all(space, between(space, above, up_to), STATISTICS_FIELDS)
        return [counted(point.payload or {}, _dimensions(point.vector)) async for point in points]

    async def watermark(self, space: Space) -> int:
        """Return the last position whose records are all there (-1: none)."""
        return (await self.watermarks([space]))[0]

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the watermark of each space, in order, with one request."""
        names = [watermark_id(space) for space in spaces]
        about = f"the watermark of {spaces[0]}" if len(spaces) == 1 else f"the watermarks of {len(spaces)} spaces"
        held = await self.server.retrieve(about, sorted(set(names)), FIELDS)
        return [position(held.get(key)) for key in names]

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int, fields: list[str]) -> Hits:
        """Rank by dot product, for each vector; ``fields`` of the payload come with it."""
        return await self._ranked(where, [(DENSE, floats(vector)) for vector in vectors], limit, by_dot, fields)

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int, fields: list[str]) -> Hits:
        """Rank by BM25, for each list of tokens. The corpus: the records of these kinds as of then, closed ones too."""
        if limit < 1 or selects_nothing(where):
            return Hits([[] for _ in queries])
        asked = [await self._values(where, tokens) for tokens in queries]
        wanted: list[tuple[str, Vector]] = [(SPARSE, _sparse(values)) for values in asked if values]
        hits = await self._ranked(where, wanted, limit, by_words, fields)
        ranked = iter(hits.ranked)
        return Hits([next(ranked) if values else [] for values in asked], hits.marks)

    async def _values(self, where: Filter, tokens: Sequence[str]) -> dict[int, int]:
        counts = await self.statistics.of(where.space, where.as_of)
        kinds, as_of = where.kinds, where.as_of
        return bm25.query(
            where.space, tokens, counts.count(kinds, as_of), lambda dim: counts.holding(kinds, as_of, dim)
        )

    async def _ranked(
        self,
        where: Filter,
        vectors: Sequence[tuple[str, Vector]],
        limit: int,
        integer: Callable[[float], int],
        fields: list[str],
    ) -> Hits:
        if limit < 1 or selects_nothing(where):
            return Hits([[] for _ in vectors])
        ranked: dict[int, Ranked] = {}
        marks: dict[str, Payload] = {}
        asked = limit + SLACK
        while open_ := [place for place in range(len(vectors)) if place not in ranked]:
            questions = [vectors[place] for place in open_]
            answers = await self.server.query(where.space, condition(where), questions, asked, fields)
            for place, points in zip(open_, answers, strict=True):
                marks |= {str(point.id): point.payload for point in points if point.payload is not None}
                if (best := cut(points, asked, limit, integer)) is not None:
                    ranked[place] = best
            asked *= MORE
        return Hits([ranked[place] for place in range(len(vectors))], marks)

    async def newest(self, where: Filter, limit: int) -> Hits:
        """Return the newest records with score 0, ordered by (-since, id)."""
        if limit < 1 or selects_nothing(where):
            return Hits([[]])
        asked = limit + SLACK
        while True:
            points = await self.server.newest(where.space, condition(where), asked, _NEWEST_FIELDS)
            contents = {number(point): point.payload or {} for point in points}
            order = sorted((-content["since"], key) for key, content in contents.items())
            if len(points) < asked or order[-1][0] != order[limit - 1][0]:
                best = [name(key) for _, key in order[:limit]]
                return Hits([[(key, 0) for key in best]], {name(key): content for key, content in contents.items()})
            asked *= MORE

    async def found(self, hits: Hits, space: Space, as_of: int) -> list[list[Found]]:
        """Return the records of ranked ids with what had happened to them, without one removed meanwhile."""
        rows = await self._records(space, {key for ranked in hits.ranked for key, _ in ranked})
        return [
            [found(rows[key], hits.marks[key], as_of, score) for key, score in ranked if key in rows]
            for ranked in hits.ranked
        ]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that are in the space as of then, in the order asked."""
        asked = {key for key in record_ids if is_id(key)}
        kept = sorted(asked & self._rows.keys())
        rows = {key: self._rows[key] for key in kept}
        marks, whole = await asyncio.gather(
            self.server.retrieve(space, kept, MARK_FIELDS),
            self.server.retrieve(space, sorted(asked - rows.keys()), FOUND_FIELDS),
        )
        rows |= self._parsed(whole)
        contents = marks | whole
        there = [key for key in record_ids if key in rows and key in contents]
        return [
            found(rows[key], contents[key], as_of)
            for key in there
            if rows[key].space == space and rows[key].since <= as_of
        ]

    async def _records(self, space: Space, ids: Collection[str]) -> dict[str, RecordRow]:
        """Return the rows of ``ids``; what is kept is not read again."""
        kept = {key: self._rows[key] for key in ids if key in self._rows}
        return kept | self._parsed(await self.server.retrieve(space, sorted(ids - kept.keys()), ["body"]))

    def _parsed(self, contents: dict[str, dict[str, object]]) -> dict[str, RecordRow]:
        rows = {key: parsed(content) for key, content in contents.items() if "body" in content}
        keep(self._rows, rows, ROWS)
        return rows

    async def matched(self, hits: Hits, space: Space) -> list[Match]:
        """Return the matches of the only question's ids."""
        [ranked] = hits.ranked
        known = {key: self._facts[key] for key, _ in ranked if key in self._facts}
        unknown = [key for key, _ in ranked if key not in known]
        read = {key: facts(content) for key, content in (await self.server.retrieve(space, unknown, ["brief"])).items()}
        keep(self._facts, read, MATCHES)
        known |= read
        return [match(key, known[key], score) for key, score in ranked if key in known]


def _dimensions(vectors: object) -> Collection[int]:
    weighed = vectors.get(SPARSE) if isinstance(vectors, dict) else None
    return weighed.indices if isinstance(weighed, SparseVector) else ()


def _sparse(values: dict[int, int]) -> SparseVector:
    return SparseVector(indices=list(values), values=[float(value) for value in values.values()])
