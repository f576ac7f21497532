"""The shard of the engine, with its settings, and its failures as ``Unavailable``.

Every call of the engine holds the interpreter's lock from start to end (measured: a flush of 120 ms in a thread stalls
all other threads for 122 ms), so that calls never overlap, and a thread of its own would only add its hand-over of
0.06 ms to reads of 0.2 to 3 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Filter,
    HnswIndexConfig,
    IntegerIndexParams,
    KeywordIndexParams,
    Query,
    QueryBatchRequest,
    QueryRequest,
    Record,
    ScoredPoint,
    ScrollRequest,
    SearchParams,
    UpdateOperation,
    VectorStorageDatatype,
)

from stages.contract import Unavailable

DENSE: Final = "dense"
SPARSE: Final = "bm25"
_PAGE: Final = 1000  # points read at once where all of a space are wanted

PointId = int | UUID | str
T = TypeVar("T")


class Shard:
    """An open shard. All methods raise ``Unavailable`` when the engine fails, or after ``close``."""

    def __init__(self, shard: EdgeShard, folder: Path) -> None:
        self._shard: EdgeShard | None = shard
        self._folder = folder

    @classmethod
    def open(cls, folder: Path, dimension: int) -> Shard:
        """Load the shard of an index folder, or make one whose vectors have ``dimension`` components."""
        try:
            return cls(_open(folder, dimension), folder)
        except Exception as error:  # the engine raises nothing narrower
            msg = f"the index in {folder} does not open: {error}"
            raise Unavailable(msg) from error

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return self._shard is not None

    def must_be_open(self) -> EdgeShard:
        """Return the engine's shard."""
        if self._shard is None:
            msg = f"the index in {self._folder} is closed"
            raise Unavailable(msg)
        return self._shard

    def _ask(self, call: Callable[[EdgeShard], T]) -> T:
        shard = self.must_be_open()
        try:
            return call(shard)
        except Exception as error:  # the engine raises nothing narrower
            msg = f"the index in {self._folder} does not answer: {error}"
            raise Unavailable(msg) from error

    def query(self, where: Filter, queries: Sequence[Query], limit: int) -> list[list[ScoredPoint]]:
        """Return the ``limit`` best points of each query, best first, without payload; exact."""
        exact = SearchParams(exact=True)
        requests = [QueryRequest(limit=limit, query=query, filter=where, params=exact) for query in queries]
        return self._ask(lambda shard: shard.query_batch(QueryBatchRequest(requests)))

    def scroll(self, request: ScrollRequest) -> tuple[list[Record], PointId | None]:
        """Return a page of points and where the next one begins."""
        return self._ask(lambda shard: shard.scroll(request))

    def all(self, where: Filter, fields: list[str], vector: str) -> Iterator[Record]:
        """Yield all points of a filter with these payload fields and one of their vectors."""
        offset: PointId | None = None
        while True:
            request = ScrollRequest(offset=offset, limit=_PAGE, filter=where, with_payload=fields, with_vector=[vector])
            points, offset = self.scroll(request)
            yield from points
            if offset is None:
                return

    def count(self, where: Filter) -> int:
        """Return how many points a filter selects; exact."""
        return self._ask(lambda shard: shard.count(CountRequest(exact=True, filter=where)))

    def retrieve(self, ids: Sequence[str], fields: list[str]) -> dict[str, dict[str, Any]]:
        """Return these payload fields of the points that exist, by id."""
        if not ids:
            return {}
        points = self._ask(lambda shard: shard.retrieve(list(ids), fields, False))  # noqa: FBT003 - needs all three
        return {str(point.id): point.payload or {} for point in points}

    def update(self, operation: UpdateOperation) -> None:
        """Apply an update; it is durable after the next ``flush``."""
        self._ask(lambda shard: shard.update(operation))

    def flush(self) -> None:
        """Make all updates durable."""
        self._ask(lambda shard: shard.flush())

    def optimize(self) -> None:
        """Merge segments and drop what was replaced. Takes seconds, in which nothing else runs."""
        self._ask(lambda shard: shard.optimize())

    def close(self) -> None:
        """Flush and close; a closed shard stays so."""
        shard = self._shard
        if shard is not None:
            try:
                self.flush()
            finally:
                self._shard = None
                shard.close()


def _open(folder: Path, dimension: int) -> EdgeShard:
    path = folder / "shard"
    path.mkdir(exist_ok=True)
    if (path / "edge_config.json").exists():
        return _indexed(EdgeShard.load(str(path)))
    return _indexed(EdgeShard.create(str(path), _config(dimension)))


def _config(dimension: int) -> EdgeConfig:
    """Return the shard's settings.

    With a write-ahead log, though every write is flushed before it counts: the engine numbers its operations, and
    without the log a kill in the middle of a flush can set the numbers back, so that it passes over the next updates of
    a point without a word (a test puts such files together; one of some 150 kills lost a closing, most likely so). With
    it 79 of 79 kills lost nothing. The log adds a tenth to a write.

    No graph (m = 0): all searches are exact, and an exact search of 1,400 records takes half a millisecond. Floats of
    32 bits hold the integers of an int8 vector, and their dot products, exactly.
    """
    return EdgeConfig(
        vectors={
            DENSE: EdgeVectorParams(size=dimension, distance=Distance.Dot, datatype=VectorStorageDatatype.Float32)
        },
        sparse_vectors={SPARSE: EdgeSparseVectorParams()},
        hnsw_config=HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
        wal_enabled=True,
    )


def _indexed(shard: EdgeShard) -> EdgeShard:
    """Make the payload indexes that are missing.

    Four, not one a field: each costs every flush about 16 more fsyncs. What is compared for equality shares ``tags``.
    """
    numbers = IntegerIndexParams(lookup=False, range=True)
    wanted: dict[str, KeywordIndexParams | IntegerIndexParams] = {
        "space": KeywordIndexParams(is_tenant=True),
        "tags": KeywordIndexParams(),
        "since": numbers,
        "until": numbers,
    }
    for name in wanted.keys() - shard.info().payload_schema.keys():
        shard.update(UpdateOperation.create_field_index(name, wanted[name]))
    return shard
