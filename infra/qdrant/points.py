"""How a record lies in the index: its point, and what is read back from it.

Payload: ``space``; ``tags`` (``kind turn``, ``owner u-42``, ``turn c1:17``, ``attribute diet``, ``subject Rex``,
``branch 5``); ``since`` and ``until``; ``successor`` of a closed one; ``changed`` (position, successor) and ``left``
once they are so; ``body``, the row as JSON, so that a recall needs no second store; ``brief``, the facts of a
``Match``.

What lies there of the graph: see ``edges``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from qdrant_edge import Point, Record, SparseVector

from infra.qdrant.bm25 import weights
from infra.qdrant.columns import Stored
from infra.qdrant.shard import DENSE, SPARSE
from schemas.memory import ITEM_KINDS, OPEN, RecordKind, RecordRow
from stages.ports import Found, Match
from stages.text.spoken import searched
from stages.text.tokens import tokens
from streams.codec import Codec, codec

Payload = Mapping[str, Any]
Facts = tuple[RecordKind, str, int, str | None, int | None, str | None, str | None, int | None, tuple[str, ...]]
"""What a ``Match`` shows beside id and score: kind, anchor, ``since``, owner, branch, parent, session, ``said_at`` and
further turns."""

_ROW: Codec[RecordRow] = codec(RecordRow)
_FACTS: Codec[Facts] = codec(Facts)

MARK_FIELDS: Final = ["until", "successor", "changed", "left"]
FOUND_FIELDS: Final = ["body", *MARK_FIELDS]
_KIND: Final = "kind "
STORED_FIELDS: Final = ["tags", "since", "until", "brief"]


def tag(name: str, value: object) -> str:
    """Return the tag of a value; the name is one word, so a value can hold anything."""
    return f"{name} {value}"


def _tags(row: RecordRow) -> Iterator[str]:
    yield tag("kind", row.kind.value)
    yield from (tag("turn", turn_id) for turn_id in row.provenance)
    if row.owner is not None:
        yield tag("owner", row.owner)
    if row.branch is not None:
        yield tag("branch", row.branch)
    if row.key is not None:
        yield tag("attribute", row.key.attribute)
        if row.key.subject is not None:
            yield tag("subject", row.key.subject)


def payload(row: RecordRow) -> dict[str, Any]:
    """Return the payload of a record that is neither closed nor marked, and with which no edges lie.

    Raises:
        ValueError: if the row's text cannot be written as JSON (a lone surrogate).
    """
    parent = row.turn.placement.parent_turn_id if row.turn else None
    others = row.provenance[1:] if row.kind in ITEM_KINDS else ()
    brief = (row.kind, row.provenance[0], row.since, row.owner, row.branch, parent, row.session, row.said_at, others)
    return {
        "space": str(row.space),
        "tags": list(_tags(row)),
        "since": row.since,
        "until": OPEN,
        "brief": _FACTS.encode(brief).decode(),
        "body": _ROW.encode(row).decode(),
    }


def sparse(row: RecordRow) -> dict[int, int]:
    """Return the BM25 weights of a record's text by dimension."""
    return weights(row.space, tokens(searched(row)))


def point(row: RecordRow, vector: bytes | None, weighed: Mapping[int, int], content: dict[str, Any]) -> Point:
    """Return the point of a record; without a vector it is found by its words only."""
    vectors: dict[str, Any] = {SPARSE: SparseVector(list(weighed), [float(value) for value in weighed.values()])}
    if vector is not None:
        vectors[DENSE] = floats(vector)
    return Point(row.id, vectors, content)


def floats(vector: bytes) -> list[float]:
    """Return int8 components as floats that hold the same integers.

    A sum of products of two such vectors, in any order, stays below 2^24 and so is exact in float32: a vector is at
    most 127 + sqrt(d) / 2 long, so that no part of the sum is above 159^2 up to d = 4,096.
    """
    components: list[float] = np.frombuffer(vector, dtype=np.int8).astype(np.float32).tolist()
    return components


def stored(read: Record) -> Stored:
    """Return what the columns hold of a point that was read with its sparse vector."""
    content = read.payload or {}
    weighed = read.vector.get(SPARSE) if isinstance(read.vector, dict) else None
    pairs = zip(weighed.indices, weighed.values, strict=True) if isinstance(weighed, SparseVector) else ()
    weights = {dimension: round(value) for dimension, value in pairs}
    return as_stored(str(read.id), content, weights)


def as_stored(record_id: str, content: Payload, weights: Mapping[int, int], vector: bytes | None = None) -> Stored:
    """Return what the columns hold of a record, from its payload; the tag of its kind goes without saying."""
    tags = [one for one in content["tags"] if not one.startswith(_KIND)]
    kind = _kind(content)
    return Stored(record_id, kind, content["since"], content["until"], tags, weights, content["brief"], vector)


def as_vector(read: Record) -> bytes | None:
    """Return the int8 vector of a point that was read with it."""
    return as_int8(read.vector.get(DENSE) if isinstance(read.vector, dict) else None)


def as_int8(components: object) -> bytes | None:
    """Return floats that hold int8 components as bytes; ``None`` of what is no vector."""
    return np.array(components, dtype=np.int8).tobytes() if isinstance(components, list) else None


def _kind(content: Payload) -> RecordKind:
    return RecordKind(next(one for one in content["tags"] if one.startswith(_KIND)).removeprefix(_KIND))


def facts(brief: str) -> Facts:
    """Return the facts of a match as they are written in the index."""
    return _FACTS.decode(brief.encode())


def match(record_id: str, known: Facts, score: int) -> Match:
    """Return a match."""
    kind, turn_id, since, owner, branch, parent, session, said_at, others = known
    return Match(record_id, kind, turn_id, since, score, owner, branch, parent, session, said_at, others)


def parsed(content: Payload) -> RecordRow:
    """Return the row of a point."""
    return _ROW.decode(content["body"].encode())


def marks(content: Payload) -> Payload:
    """Return what of a point's payload says what happened to its record."""
    return {name: content[name] for name in MARK_FIELDS if name in content}


def found(row: RecordRow, content: Payload, as_of: int, score: int = 0) -> Found:
    """Return a record with what had happened to it as of a position: later closings and marks are not there yet."""
    until, changed, left = content["until"], content.get("changed"), content.get("left")
    return Found(
        record=row,
        score=score,
        until=until if until <= as_of else OPEN,
        changed=(changed[0], changed[1]) if changed and changed[0] <= as_of else None,
        left=left if left is not None and left <= as_of else None,
        successor=content.get("successor") if until <= as_of else None,
    )
