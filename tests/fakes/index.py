"""An index in plain Python: every read looks at every record of the space. Honest, slow, gone with the process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from uuid import UUID

import numpy as np

from schemas.committed import Committed
from schemas.memory import ITEM_KINDS, OPEN, ChangedRow, ClosedRow, EdgeRow, LeftRow, RecordKind, RecordRow
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter, Found, Match
from stages.text.spoken import searched
from stages.text.tokens import tokens
from stages.woven import Woven


@dataclass
class Kept:
    row: RecordRow
    vector: bytes | None = None
    until: int | None = None
    successor: str | None = None
    changed: tuple[int, str] | None = None
    left: int | None = None

    def found(self, as_of: int, score: int = 0) -> Found:
        return Found(
            record=self.row,
            score=score,
            until=self.until if self.until is not None and self.until <= as_of else OPEN,
            changed=self.changed if self.changed and self.changed[0] <= as_of else None,
            left=self.left if self.left is not None and self.left <= as_of else None,
            successor=self.successor if self.until is not None and self.until <= as_of else None,
        )

    def match(self, score: int) -> Match:
        row = self.row
        parent = row.turn.placement.parent_turn_id if row.turn else None
        first, *others = row.provenance
        further = tuple(others) if row.kind in ITEM_KINDS else ()
        placed = (row.owner, row.branch, parent, row.session)
        return Match(row.id, row.kind, first, row.since, score, *placed, row.said_at, further)


@dataclass
class MemoryIndex:
    """``History``, ``Search`` and ``IndexWriter``."""

    dimension: int
    records: dict[Space, dict[str, Kept]] = field(default_factory=dict)
    watermarks: dict[Space, int] = field(default_factory=dict)
    woven: dict[Space, dict[int, list[EdgeRow]]] = field(default_factory=dict)
    closed: bool = False

    def _of(self, space: Space) -> dict[str, Kept]:
        if self.closed:
            msg = "the index is closed"
            raise Unavailable(msg)
        return self.records.get(space, {})

    def _seen(self, where: Filter) -> list[Kept]:
        return [kept for kept in self._of(where.space).values() if _passes(kept, where)]

    async def nearest(self, where: Filter, vectors: Sequence[bytes], limit: int) -> list[list[Found]]:
        return [[k.found(where.as_of, score) for score, k in self._dense(where, v, limit)] for v in vectors]

    async def lexical(self, where: Filter, queries: Sequence[Sequence[str]], limit: int) -> list[list[Found]]:
        return [[k.found(where.as_of, score) for score, k in self._sparse(where, q, limit)] for q in queries]

    async def dense(self, where: Filter, vector: bytes, limit: int) -> list[Match]:
        return [kept.match(score) for score, kept in self._dense(where, vector, limit)]

    async def sparse(self, where: Filter, tokens: Sequence[str], limit: int) -> list[Match]:
        return [kept.match(score) for score, kept in self._sparse(where, tokens, limit)]

    def _dense(self, where: Filter, vector: bytes, limit: int) -> list[tuple[int, Kept]]:
        return _best(((_dot(k.vector, vector), k) for k in self._seen(where) if k.vector is not None), limit)

    def _sparse(self, where: Filter, query: Sequence[str], limit: int) -> list[tuple[int, Kept]]:
        corpus = [
            set(tokens(searched(kept.row)))
            for kept in self._of(where.space).values()
            if _passes(kept, Filter(where.space, where.as_of, where.kinds, closed_too=where.closed_too))
        ]
        idf = {token: _idf(len(corpus), sum(token in words for words in corpus)) for token in query}
        asked = Counter(token for token in query if idf[token])
        scored = ((_bm25(kept.row, asked, idf), kept) for kept in self._seen(where))
        return _best(((score, kept) for score, kept in scored if score is not None), limit)

    async def matching(self, where: Filter, limit: int) -> list[Found]:
        newest = sorted(self._seen(where), key=lambda kept: (-kept.row.since, kept.row.id))
        return [kept.found(where.as_of) for kept in newest[:limit]]

    async def fetch(self, space: Space, as_of: int, record_ids: Sequence[str]) -> list[Found]:
        there = self._of(space)
        return [there[i].found(as_of) for i in record_ids if i in there and there[i].row.since <= as_of]

    async def edges(self, space: Space, as_of: int, record_ids: Sequence[str], limit: int) -> Woven:
        there, asked = self._of(space), set(record_ids)
        turns = {kept.row.since for kept in there.values() if kept.row.kind is RecordKind.TURN}
        events = [
            (position, [edge for edge in edges if asked & {edge.source, edge.target}])
            for position, edges in sorted(self.woven.get(space, {}).items(), reverse=True)
            if position <= as_of
        ]
        of_turns = [edges for position, edges in events if edges and position in turns]
        others = [edges for position, edges in events if edges and position not in turns]
        open_still = (edge for edges in others[:limit] for edge in edges if not _has_ended(there, as_of, edge))
        return Woven(_once(edge for edges in of_turns[:limit] for edge in edges), _once(open_still))

    async def watermark(self, space: Space) -> int:
        self._of(space)
        return self.watermarks.get(space, -1)

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        draft = {key: Kept(**vars(kept)) for key, kept in self._of(space).items()}
        for event in batch:
            self._take(draft, space, event)
        for event in batch:
            for row in event.rows:
                _mark(draft, row)
            edges = [row for row in event.rows if isinstance(row, EdgeRow)]
            if edges and any(isinstance(row, RecordRow) for row in event.rows):
                self.woven.setdefault(space, {}).setdefault(event.header.position, edges)
        self.records[space] = draft
        self.watermarks[space] = max([self.watermarks.get(space, -1), *(event.header.position for event in batch)])

    def _take(self, draft: dict[str, Kept], space: Space, event: Committed) -> None:
        vectors = {given.record_id: given.vector for given in event.vectors}
        rows = [row for row in event.rows if isinstance(row, RecordRow)]
        if event.header.space != space or any(row.space != space for row in event.rows):
            msg = f"a row of another space than {space}"
            raise ValueError(msg)
        if vectors.keys() - {row.id for row in rows} or any(len(v) != self.dimension for v in vectors.values()):
            msg = f"{space}: a vector of no record of its event, or not of {self.dimension} bytes"
            raise ValueError(msg)
        for row in rows:
            if any(row.id in kept for other, kept in self.records.items() if other != space):
                msg = f"{row.id} is a record of another space than {space}"
                raise ValueError(msg)
            draft.setdefault(str(UUID(row.id)), Kept(row, vectors.get(row.id)))


def _once(edges: Iterable[EdgeRow]) -> list[EdgeRow]:
    found = {(edge.source, edge.target, edge.type): edge for edge in edges}
    return [found[key] for key in sorted(found)]


def _has_ended(there: dict[str, Kept], as_of: int, edge: EdgeRow) -> bool:
    """Tell whether an end of an edge that came with it was closed."""
    ends = (there[end] for end in (edge.source, edge.target) if end in there)
    return any(kept.row.since == edge.since and kept.until is not None and kept.until <= as_of for kept in ends)


def _mark(draft: dict[str, Kept], row: object) -> None:
    if not isinstance(row, ClosedRow | LeftRow | ChangedRow):
        return
    if (kept := draft.get(row.id)) is None:
        msg = f"{row.space}: there is no record {row.id} to mark"
        raise ValueError(msg)
    match row:
        case ClosedRow() if kept.until is None:
            kept.until, kept.successor = row.until, row.successor
        case LeftRow() if kept.left is None:
            kept.left = row.position
        case ChangedRow() if kept.changed is None:
            kept.changed = (row.position, row.successor)


def _passes(kept: Kept, where: Filter) -> bool:
    row = kept.row
    until = OPEN if kept.until is None else kept.until
    return (
        row.kind in where.kinds
        and row.since <= where.as_of
        and (where.closed_too or until > where.as_of)
        and (where.owners is None or row.owner in where.owners)
        and (where.turn_ids is None or not where.turn_ids.isdisjoint(row.provenance))
        and (where.branches is None or row.branch in where.branches)
        and (where.key_attribute is None or (row.key is not None and row.key.attribute == where.key_attribute))
        and (where.key_subject is None or (row.key is not None and row.key.subject == where.key_subject))
    )


def _best(scored: Iterable[tuple[int, Kept]], limit: int) -> list[tuple[int, Kept]]:
    by_id = sorted(scored, key=lambda pair: attrgetter("row.id")(pair[1]))
    return sorted(by_id, key=lambda pair: -pair[0])[: max(limit, 0)]


def _dot(left: bytes | None, right: bytes) -> int:
    return int(np.dot(np.frombuffer(left or b"", np.int8).astype(np.int64), np.frombuffer(right, np.int8)))


def _idf(records: int, holding: int) -> int:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) in 64ths; 0 where nobody holds the token."""
    return round(64 * math.log(1 + (records - holding + 0.5) / (holding + 0.5))) if holding else 0


def _bm25(row: RecordRow, asked: Counter[str], idf: dict[str, int]) -> int | None:
    """The score in thousandths, ``None`` without a common token."""
    words = tokens(searched(row))
    counts = Counter(words)
    common = asked.keys() & counts.keys()
    if not common:
        return None
    units = sum(asked[t] * idf[t] * _weight(counts[t], len(words)) for t in common)
    return math.floor(1000 * units / 4096 + 0.5)


def _weight(count: int, length: int) -> int:
    """A term's weight in 64ths: k1 = 0.9, b = 0.4, average length 50."""
    return max(1, round(64 * 1.9 * count / (count + 0.9 * (0.6 + 0.4 * length / 50))))
