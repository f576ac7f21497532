"""The spaces in use, held in memory beside the engine: who searches there does not ask it.

A space is read from the index when it is first asked for, its vectors when it was asked for what is near often enough
for that to pay; from then on each write is added. Without its vectors in memory the engine is asked for what is near.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from infra.qdrant import bm25
from infra.qdrant.columns import Best, Column, Stored
from infra.qdrant.conditions import narrowings
from infra.qdrant.points import Facts, facts
from infra.qdrant.ranking import Ranked
from infra.qdrant.vectors import Rows, Vectors
from schemas.memory import RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter

POSTINGS: Final = 1_000_000
"""Postings kept over all spaces (70,000 short records, about 50 MB): then the space longest unused goes."""

_EMPTY: Final = 8
"""Postings that a space counts as before it has any: it takes as much room."""

VECTORS: Final = 256 * 2**20
"""Bytes of vectors kept over all spaces: then those of the space longest unused go.

They are the records of 10,000 long turns (75,000 of 384 dimensions, 179 MB as columns grow): with half of it each such
turn asked the engine twice, and took 1.6 times what it takes in a small space.
"""

WORTH: Final = 4
"""Dense questions about a space until its vectors are read: 15 us each, so that a command which asks once does not."""


@dataclass(slots=True)
class Resident:
    """A space in memory: a column for each kind, and the facts of matches by record id.

    ``near`` counts dense questions; ``reached`` is the position up to which it is complete where others write it.
    """

    columns: dict[RecordKind, Column] = field(default_factory=dict)
    facts: dict[str, Facts | str] = field(default_factory=dict)
    postings: int = _EMPTY
    near: int = 0
    reached: int = -1
    dimension: int | None = None

    @property
    def vectors(self) -> int:
        """Bytes of vectors."""
        return sum(column.vectors.size for column in self.columns.values() if column.vectors)

    def add(self, record: Stored) -> bool:
        """Add a record; ``False`` if it does not come behind those of its kind."""
        column = self.columns.get(record.kind)
        if column is None:
            column = self.columns[record.kind] = Column(vectors=Vectors(self.dimension, 0) if self.dimension else None)
        self.postings += len(record.weights) + 1
        self.facts[record.id] = record.brief
        return column.add(record)

    def close(self, record_id: str, until: int) -> None:
        """Note that a record was closed."""
        if record_id in self.facts:
            kind, _, since, *_ = self.known(record_id)
            self.columns[kind].close(record_id, since, until)

    def must_hold(self, space: Space, ranked: Iterable[Ranked]) -> None:
        """Refuse an answer that shows another space's record, whatever became of the filter that it was asked with.

        Raises:
            Unavailable: if it does.
        """
        for record_id in (record_id for hits in ranked for record_id, _ in hits if record_id not in self.facts):
            msg = f"{space}: the index answers with record {record_id}, which is none of the space's"
            raise Unavailable(msg)

    def known(self, record_id: str) -> Facts:
        """Return the facts of a match."""
        known = self.facts[record_id]
        if isinstance(known, str):
            known = self.facts[record_id] = facts(known)
        return known

    def values(self, where: Filter, tokens: Sequence[str]) -> dict[int, int]:
        """Return the BM25 query values of tokens. The corpus is what is open then: an undo moves no score."""
        until = -1 if where.closed_too else where.as_of
        counted = [(column, column.count(where.as_of), column.gone(until)) for column in self._of(where)]

        def holding(dimension: int) -> int:
            return sum(column.holding(dimension, rows) - column.lost(dimension, gone) for column, rows, gone in counted)

        return bm25.query(where.space, tokens, sum(rows - len(gone) for _, rows, gone in counted), holding)

    def worded(self, where: Filter, values: Mapping[int, int], limit: int) -> Ranked:
        """Rank by BM25."""
        return _merged([c.worded(values, rows, where.as_of, limit) for c, rows in self._selected(where)], limit)

    def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[Ranked]:
        """Rank by dot product, for each vector; only where the vectors are in memory."""
        selected = self._selected(where)
        return [_merged([c.near(one, rows, where.as_of, limit) for c, rows in selected], limit) for one in vectors]

    def newest(self, where: Filter, limit: int) -> Ranked:
        """Return the newest records with score 0, ordered by (-since, id)."""
        newest = _merged([column.newest(rows, limit) for column, rows in self._selected(where)], limit)
        return [(record_id, 0) for record_id, _ in newest]

    def _selected(self, where: Filter) -> list[tuple[Column, Rows]]:
        narrowed = list(narrowings(where))
        selected = ((one, one.selected(where.as_of, narrowed, closed_too=where.closed_too)) for one in self._of(where))
        return [(column, rows) for column, rows in selected if len(rows)]

    def _of(self, where: Filter) -> list[Column]:
        return [column for kind, column in self.columns.items() if kind in where.kinds]

    def take(self, vectors: Mapping[str, bytes], dimension: int) -> None:
        """Hold the vectors of all records from now on."""
        self.dimension = dimension
        for column in self.columns.values():
            column.vectors = Vectors(dimension, len(column.ids))
            for row, record_id in enumerate(column.ids):
                column.vectors.put(row, vectors.get(record_id))

    def drop(self) -> None:
        """Hold the vectors no longer."""
        self.dimension, self.near = None, 0
        for column in self.columns.values():
            column.vectors = None


def _merged(found: Sequence[Best], limit: int) -> Ranked:
    best = found[0] if len(found) == 1 else sorted(one for run in found for one in run)[:limit]
    return [(record_id, -score) for score, record_id in best]


@dataclass(slots=True)
class Shelf:
    """So many spaces as there is room for; those longest unused go, their vectors first.

    What is in use is given along with its space: it may have gone from here while its user waited, and stays right.
    """

    _spaces: OrderedDict[Space, Resident] = field(default_factory=OrderedDict)
    _postings: int = 0
    _vectors: int = 0

    def get(self, space: Space) -> Resident | None:
        """Return a space that is here: it was used last."""
        if space in self._spaces:
            self._spaces.move_to_end(space)
        return self._spaces.get(space)

    def put(self, space: Space) -> Resident:
        """Begin with a space."""
        self.forget(space)
        resident = self._spaces[space] = Resident()
        self._count(resident, 1)
        return resident

    def add(self, space: Space, resident: Resident, records: Iterable[Stored], closed: Mapping[str, int]) -> None:
        """Add new records and closings; a space whose records come out of order does not stay."""
        is_here = self._spaces.get(space) is resident
        if is_here:
            self._count(resident, -1)
        in_order = [resident.add(record) for record in sorted(records, key=attrgetter("since"))]
        for record_id, until in closed.items():
            resident.close(record_id, until)
        if is_here:
            self._count(resident, 1)
            self._evict(space)
            if not all(in_order):
                self.forget(space)

    def take(self, space: Space, resident: Resident, vectors: Mapping[str, bytes], dimension: int) -> None:
        """Hold the vectors of a space from now on."""
        resident.take(vectors, dimension)
        if self._spaces.get(space) is resident:
            self._vectors += resident.vectors
            self._evict(space)

    def forget(self, space: Space) -> None:
        """Drop a space."""
        if resident := self._spaces.pop(space, None):
            self._count(resident, -1)

    def _count(self, resident: Resident, sign: int) -> None:
        # a large space counts as half of the room: it and its small neighbours would else drive each other out
        self._postings += sign * min(resident.postings, POSTINGS // 2)
        self._vectors += sign * resident.vectors

    def _evict(self, used: Space) -> None:
        """Let go of what is too much, but the space in use."""
        for space in [space for space in self._spaces if space != used]:
            if self._postings <= POSTINGS:
                break
            self.forget(space)
        for resident in self._spaces.values():
            if self._vectors <= VECTORS:
                return
            self._vectors -= resident.vectors
            resident.drop()


def wants_vectors(resident: Resident, dimension: int) -> bool:
    """Note a dense question about a space; return whether its vectors should now be read."""
    resident.near += 1
    too_many = len(resident.facts) * dimension * 4 * 3 // 2 > VECTORS  # with the room to grow that they may have
    return resident.dimension is None and resident.near > WORTH and not too_many


@dataclass(slots=True)
class Residents:
    """Spaces that only this process writes; ``load`` reads a space from the index, ``load_vectors`` its vectors."""

    load: Callable[[Space], Iterable[Stored]]
    load_vectors: Callable[[Space], Mapping[str, bytes]]
    dimension: int
    shelf: Shelf = field(default_factory=Shelf)

    def of(self, space: Space) -> Resident:
        """Return a space, complete with all that was added."""
        resident = self.shelf.get(space)
        if resident is None:
            records = list(self.load(space))  # first: of a space that cannot be read nothing is kept
            resident = self.shelf.put(space)
            self.shelf.add(space, resident, records, {})
        return resident

    def with_vectors(self, space: Space) -> Resident | None:
        """Return a space with its vectors, if it has been asked for often enough and they are not too many."""
        resident = self.of(space)
        if wants_vectors(resident, self.dimension):
            self.shelf.take(space, resident, self.load_vectors(space), self.dimension)
        return resident if resident.dimension else None

    def add(self, space: Space, records: Iterable[Stored], closed: Mapping[str, int]) -> None:
        """Add what was written; a space that is not in memory will be read with it."""
        if resident := self.shelf.get(space):
            self.shelf.add(space, resident, records, closed)

    def forget(self, space: Space) -> None:
        """Drop a space that may not match the index any more; it is read again."""
        self.shelf.forget(space)
