"""The ``History`` port in memory: exact as-of reads over rows and vectors that a test puts in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log

from schemas.memory import OPEN, ChangedRow, ClosedRow, LeftRow, RecordRow, Row
from schemas.space import Space
from stages.ports import Filter, Found
from stages.text.similarity import dots
from stages.text.tokens import tokens

_K1, _B, _AVERAGE = 1.2, 0.75, 16
"""BM25 with a constant average length, so that no later write moves an earlier score."""


@dataclass
class MemoryHistory:
    """Rows by space. ``reads`` counts the calls by method; ``positions`` keeps the as-of positions read."""

    records: dict[Space, list[RecordRow]] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    closed: dict[str, int] = field(default_factory=dict)
    changed: dict[str, tuple[int, str]] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    reads: Counter[str] = field(default_factory=Counter)
    positions: list[int] = field(default_factory=list)
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, rows: Iterable[Row], vectors: Iterable[tuple[str, bytes]] = ()) -> None:
        """Take in rows in any order; a row that is already there changes nothing."""
        for row in rows:
            self._take(row)
        self.vectors.update(vectors)

    def _take(self, row: Row) -> None:
        match row:
            case RecordRow() if row.id not in self._words:
                self.records.setdefault(row.space, []).append(row)
                self._words[row.id] = Counter(tokens(row.text))
            case ClosedRow():
                self.closed.setdefault(row.id, row.until)
            case ChangedRow():
                self.changed.setdefault(row.id, (row.position, row.successor))
            case LeftRow():
                self.left.setdefault(row.id, row.position)
            case _:
                pass

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        """Return the records of greatest dot product for each vector."""
        self._count("nearest", where.as_of)
        records = [record for record in self._selected(where) if record.id in self.vectors]
        known = [self.vectors[record.id] for record in records]
        return [self._best(where.as_of, zip(records, dots(one, known), strict=True), limit) for one in vectors]

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        """Return the best records by BM25 for each list of tokens; those that share none are not among them."""
        self._count("lexical", where.as_of)
        corpus = [self._words[record.id] for record in self.records.get(where.space, []) if record.since <= where.as_of]
        records = self._selected(where)
        found = []
        for query in queries:
            weights = {token: _idf(corpus, token) for token in query}
            scored = [(record, self._bm25(record, weights)) for record in records]
            found.append(self._best(where.as_of, [(record, score) for record, score in scored if score > 0], limit))
        return found

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        """Return the newest records that the filter selects."""
        self._count("matching", where.as_of)
        newest = sorted(self._selected(where), key=lambda record: (-record.since, record.id))
        return [self._found(record, 0, where.as_of) for record in newest[:limit]]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        """Return the records of these ids, in the order asked."""
        self._count("fetch", as_of)
        there = {record.id: record for record in self.records.get(space, []) if record.since <= as_of}
        return [self._found(there[one], 0, as_of) for one in record_ids if one in there]

    def _count(self, method: str, as_of: int) -> None:
        self.reads[method] += 1
        self.positions.append(as_of)

    def _selected(self, where: Filter) -> list[RecordRow]:
        return [record for record in self.records.get(where.space, []) if self._passes(record, where)]

    def _passes(self, record: RecordRow, where: Filter) -> bool:
        if record.kind not in where.kinds or record.since > where.as_of:  # first: nearly all that is not wanted
            return False
        if self.closed.get(record.id, OPEN) <= where.as_of and not where.closed_too:
            return False
        wanted = (
            (where.owners, {record.owner}),
            (where.turn_ids, set(record.provenance)),
            (where.branches, {record.branch}),
            (_only(where.key_attribute), {record.key.attribute} if record.key else set()),
            (_only(where.key_subject), {record.key.subject} if record.key else set()),
        )
        return all(asked is None or asked & has for asked, has in wanted)

    def _best(self, as_of: int, scored: Iterable[tuple[RecordRow, int]], limit: int) -> list[Found]:
        best = sorted(scored, key=lambda pair: (-pair[1], pair[0].id))[:limit]
        return [self._found(record, score, as_of) for record, score in best]

    def _found(self, record: RecordRow, score: int, as_of: int) -> Found:
        until, changed, left = self.closed.get(record.id, OPEN), self.changed.get(record.id), self.left.get(record.id)
        return Found(
            record,
            score,
            until=until if until <= as_of else OPEN,
            changed=changed if changed and changed[0] <= as_of else None,
            left=left if left is not None and left <= as_of else None,
        )

    def _bm25(self, record: RecordRow, weights: dict[str, float]) -> int:
        words = self._words[record.id]
        norm = _K1 * (1 - _B + _B * words.total() / _AVERAGE)
        return round(1000 * sum(w * words[token] * (_K1 + 1) / (words[token] + norm) for token, w in weights.items()))


def _only(value: str | None) -> set[str] | None:
    return None if value is None else {value}


def _idf(corpus: Sequence[Counter[str]], token: str) -> float:
    having = sum(token in words for words in corpus)
    return log(1 + (len(corpus) - having + 0.5) / (having + 0.5))
