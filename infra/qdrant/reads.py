"""Exact reads: ranked in memory where the space is there, else by the engine; bodies come from the shard."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from qdrant_edge import Query

from infra.qdrant.batch import is_id
from infra.qdrant.columns import Stored
from infra.qdrant.conditions import condition, of_space, selects_nothing
from infra.qdrant.edges import EDGE_FIELDS, EVENTS, edge_rows, holders, woven
from infra.qdrant.kept import Kept
from infra.qdrant.points import (
    FOUND_FIELDS,
    STORED_FIELDS,
    Payload,
    as_vector,
    floats,
    found,
    marks,
    match,
    parsed,
    stored,
)
from infra.qdrant.ranking import MORE, SLACK, Ranked, cut
from infra.qdrant.residents import Residents
from infra.qdrant.shard import DENSE, SPARSE, Shard
from schemas.memory import EdgeRow, RecordRow
from schemas.space import Space
from stages.ports import Filter, Found, Match
from stages.woven import NONE, Woven


@dataclass
class Reads:
    """What both ports of reading are made of. Records are kept until they are written or marked: see ``written``."""

    shard: Shard
    dimension: int
    residents: Residents = field(init=False)
    _kept: Kept[tuple[RecordRow, Payload]] = field(default_factory=Kept)
    _edges: Kept[list[EdgeRow]] = field(default_factory=lambda: Kept(EVENTS))

    def __post_init__(self) -> None:
        """Let the spaces in memory be read from the shard."""
        self.residents = Residents(self._stored, self._vectors, self.dimension)

    def _stored(self, space: Space) -> list[Stored]:
        return [stored(point) for point in self.shard.all(of_space(space), STORED_FIELDS, SPARSE)]

    def _vectors(self, space: Space) -> dict[str, bytes]:
        read = ((str(point.id), as_vector(point)) for point in self.shard.all(of_space(space), ["since"], DENSE))
        return {record_id: vector for record_id, vector in read if vector is not None}

    def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[Ranked]:
        """Rank by dot product, for each vector."""
        if limit < 1 or selects_nothing(where):
            return [[] for _ in vectors]
        if resident := self._in_use().with_vectors(where.space):
            return resident.nearest(where, vectors, limit)
        ranked = self._asked([Query.Nearest(floats(vector), DENSE) for vector in vectors], where, limit)
        self.residents.of(where.space).must_hold(where.space, ranked)
        return ranked

    def _asked(self, queries: Sequence[Query], where: Filter, limit: int) -> list[Ranked]:
        """Ask the engine, past all that may tie at the cut."""
        ranked: dict[int, Ranked] = {}
        asked = limit + SLACK
        while open_ := [number for number in range(len(queries)) if number not in ranked]:
            results = self.shard.query(condition(where), [queries[number] for number in open_], asked)
            for number, points in zip(open_, results, strict=True):
                if (best := cut(points, asked, limit)) is not None:
                    ranked[number] = best
            asked *= MORE
        return [ranked[number] for number in range(len(queries))]

    def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[Ranked]:
        """Rank by BM25, for each list of tokens. The corpus: the records of these kinds, as of then."""
        if limit < 1 or selects_nothing(where):
            return [[] for _ in queries]
        resident = self._in_use().of(where.space)
        return [resident.worded(where, resident.values(where, tokens), limit) for tokens in queries]

    def newest(self, where: Filter, limit: int) -> Ranked:
        """Return the newest records with score 0, ordered by (-since, id)."""
        if limit < 1 or selects_nothing(where):
            return []
        return self._in_use().of(where.space).newest(where, limit)

    def _in_use(self) -> Residents:
        self.shard.must_be_open()
        return self.residents

    def found(self, ranked: Sequence[Ranked], as_of: int) -> list[list[Found]]:
        """Return the records of ranked ids with what had happened to them; each is read once."""
        records = self._records({record_id for hits in ranked for record_id, _ in hits})
        return [[found(*records[key], as_of, score) for key, score in hits] for hits in ranked]

    def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that are in the space as of then, in the order asked."""
        records = self._records({record_id for record_id in record_ids if record_id in self._kept or is_id(record_id)})
        asked = [records[record_id] for record_id in record_ids if record_id in records]
        return [found(row, mark, as_of) for row, mark in asked if row.space == space and row.since <= as_of]

    def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        """Return the edges at these records that were there as of a position; what is kept is not read again."""
        if not record_ids or limit < 1:
            return NONE
        resident = self._in_use().of(space)
        ids = holders(resident, as_of, record_ids, limit)
        kept = self._edges.of(ids)
        unknown = [record_id for record_id in ids if record_id not in kept]
        contents = self.shard.retrieve(unknown, EDGE_FIELDS)
        read = {key: edge_rows(space, content) for key, content in contents.items()}
        self._edges.add(read)
        return woven(resident, as_of, kept | read, record_ids)

    def _records(self, ids: Collection[str]) -> dict[str, tuple[RecordRow, Payload]]:
        """Return those of ``ids`` that are there; what is kept is not read again."""
        self.shard.must_be_open()
        kept = self._kept.of(ids)
        unknown = sorted(record_id for record_id in ids if record_id not in kept)
        read = {
            key: (parsed(content), marks(content))
            for key, content in self.shard.retrieve(unknown, FOUND_FIELDS).items()
        }
        self._kept.add(read)
        return kept | read

    def matched(self, space: Space, ranked: Ranked) -> list[Match]:
        """Return the matches of ranked ids."""
        known = self._in_use().of(space).known
        return [match(record_id, known(record_id), score) for record_id, score in ranked]

    def written(self, ids: Iterable[str]) -> None:
        """Forget what is kept of records that are written (again) or marked."""
        gone = list(ids)
        self._kept.drop(gone)
        self._edges.drop(gone)
