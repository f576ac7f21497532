"""Exact reads of the shard: ranked in whole numbers, ties cut by id after fetching past them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from qdrant_edge import Query, SparseVector

from infra.qdrant import bm25, ranking
from infra.qdrant.batch import is_id
from infra.qdrant.conditions import condition, of_space, selects_nothing
from infra.qdrant.kept import MATCHES, ROWS, keep
from infra.qdrant.points import (
    FOUND_FIELDS,
    STATISTICS_FIELDS,
    Facts,
    Payload,
    entry,
    facts,
    floats,
    found,
    marks,
    match,
    parsed,
)
from infra.qdrant.ranking import MORE, SLACK, Ranked, by_dot, by_words
from infra.qdrant.shard import DENSE, SPARSE, Shard
from infra.qdrant.statistics import Entry, Statistics
from schemas.memory import RecordRow
from schemas.space import Space
from stages.ports import Filter, Found, Match

_FEW: Final = 16
_ANSWERS: Final = 256
"""So many answers to "which are the newest?" are kept until the next write, if short: every recall asks for a turn."""

_cut = ranking.cut
_number = ranking.number
_name = ranking.name


@dataclass
class Reads:
    """What both ports of reading are made of. Records are kept until they are written or marked: see ``written``."""

    shard: Shard
    statistics: Statistics = field(init=False)
    _facts: dict[str, Facts] = field(default_factory=dict)
    _kept: dict[str, tuple[RecordRow, Payload]] = field(default_factory=dict)
    _newest: dict[tuple[Filter, int], Ranked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the statistics read their spaces from the shard."""
        self.statistics = Statistics(self._entries)

    def _entries(self, space: Space) -> list[Entry]:
        return [entry(point) for point in self.shard.all(of_space(space), STATISTICS_FIELDS)]

    def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[Ranked]:
        """Rank by dot product, for each vector."""
        return self._ranked(where, [Query.Nearest(floats(vector), DENSE) for vector in vectors], limit, by_dot)

    def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[Ranked]:
        """Rank by BM25, for each list of tokens. The corpus: the records of these kinds as of then, closed ones too."""
        asked = [self._values(where, tokens) for tokens in queries]
        wanted = [Query.Nearest(SparseVector(list(v), [float(x) for x in v.values()]), SPARSE) for v in asked if v]
        ranked = iter(self._ranked(where, wanted, limit, by_words))
        return [next(ranked) if values else [] for values in asked]

    def _values(self, where: Filter, tokens: Sequence[str]) -> dict[int, int]:
        corpus = self.statistics.of(where.space)
        holding = partial(corpus.holding, where.kinds, where.as_of)
        return bm25.query(where.space, tokens, corpus.count(where.kinds, where.as_of), holding)

    def _ranked(
        self, where: Filter, queries: Sequence[Query], limit: int, integer: Callable[[float], int]
    ) -> list[Ranked]:
        if limit < 1 or selects_nothing(where):
            return [[] for _ in queries]
        ranked: dict[int, Ranked] = {}
        asked = limit + SLACK
        while open_ := [number for number in range(len(queries)) if number not in ranked]:
            results = self.shard.query(condition(where), [queries[number] for number in open_], asked)
            for number, points in zip(open_, results, strict=True):
                if (cut := _cut(points, asked, limit, integer)) is not None:
                    ranked[number] = cut
            asked *= MORE
        return [ranked[number] for number in range(len(queries))]

    def newest(self, where: Filter, limit: int) -> Ranked:
        """Return the newest records with score 0, ordered by (-since, id)."""
        if limit < 1 or selects_nothing(where):
            return []
        self.shard.must_be_open()
        if (where, limit) not in self._newest:
            kept = {(where, limit): self._read_newest(where, limit)}
            if limit > _FEW:
                return kept[where, limit]
            keep(self._newest, kept, _ANSWERS)
        return self._newest[where, limit]

    def _read_newest(self, where: Filter, limit: int) -> Ranked:
        asked = limit + SLACK
        while True:
            points = self.shard.newest(condition(where), asked)
            order = sorted([(-int(point.order_value or 0), _number(point)) for point in points])
            if len(points) < asked or order[-1][0] != order[limit - 1][0]:
                return [(_name(number), 0) for _, number in order[:limit]]
            asked *= MORE

    def found(self, ranked: Sequence[Ranked], as_of: int) -> list[list[Found]]:
        """Return the records of ranked ids with what had happened to them; each is read once."""
        records = self._records({record_id for hits in ranked for record_id, _ in hits})
        return [[found(*records[key], as_of, score) for key, score in hits] for hits in ranked]

    def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids that are in the space as of then, in the order asked."""
        records = self._records({record_id for record_id in record_ids if record_id in self._kept or is_id(record_id)})
        asked = [records[record_id] for record_id in record_ids if record_id in records]
        return [found(row, mark, as_of) for row, mark in asked if row.space == space and row.since <= as_of]

    def _records(self, ids: Collection[str]) -> dict[str, tuple[RecordRow, Payload]]:
        """Return those of ``ids`` that are there; what is kept is not read again."""
        self.shard.must_be_open()
        kept = {record_id: self._kept[record_id] for record_id in ids if record_id in self._kept}
        unknown = sorted(record_id for record_id in ids if record_id not in kept)
        read = {
            key: (parsed(content), marks(content))
            for key, content in self.shard.retrieve(unknown, FOUND_FIELDS).items()
        }
        keep(self._kept, read, ROWS)
        return kept | read

    def matched(self, ranked: Ranked) -> list[Match]:
        """Return the matches of ranked ids."""
        unknown = [record_id for record_id, _ in ranked if record_id not in self._facts]
        known = self._facts
        if unknown:
            known = {record_id: self._facts[record_id] for record_id, _ in ranked if record_id in self._facts}
            read = {key: facts(content) for key, content in self.shard.retrieve(unknown, ["brief"]).items()}
            keep(self._facts, read, MATCHES)
            known |= read
        return [match(record_id, known[record_id], score) for record_id, score in ranked]

    def written(self, ids: Iterable[str]) -> None:
        """Forget what is kept of records that are written (again) or marked, and which records are the newest."""
        self._newest.clear()
        for record_id in ids:
            self._facts.pop(record_id, None)
            self._kept.pop(record_id, None)
