"""A space held in memory: who searches there does not ask the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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

_EMPTY: Final = 8
"""Postings that a space counts as before it has any: it takes as much room."""


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

    def is_turn(self, record_id: str) -> bool:
        """Tell whether a record is a turn's own text."""
        return record_id in self.facts and self.known(record_id)[0] is RecordKind.TURN

    def was_closed(self, record_id: str, since: int, as_of: int) -> bool:
        """Tell whether a record that came at ``since`` was closed at or before a position."""
        if record_id not in self.facts:
            return False
        kind, _, known, *_ = self.known(record_id)
        return known == since and self.columns[kind].was_closed(record_id, since, as_of)

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
