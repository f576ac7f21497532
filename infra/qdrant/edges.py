"""The edges of the typed graph in the index: those of an event lie with one of its records, its turn's if it has one.

Payload of that point: ``edges``, and in its ``tags`` what they touch (``edge ID``), so that they are found from either
end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from infra.qdrant.points import Payload, tag
from infra.qdrant.residents import Resident
from schemas.memory import EdgeRow, EdgeType
from schemas.space import Space
from streams.codec import Codec, codec

EVENTS: Final = 4_096
"""Events whose edges are kept in memory (some 40 MB): reading those of one costs 40 us."""

EDGE_FIELDS: Final = ["edges", "since"]

_Edge = tuple[str, str, EdgeType, int]
"""An edge as it is stored: source, target, type and strength; space and ``since`` are those of its event."""

_EDGES: Codec[tuple[_Edge, ...]] = codec(tuple[_Edge, ...])


def laid(content: dict[str, Any], edges: Sequence[EdgeRow]) -> dict[str, Any]:
    """Return the payload of a record with the edges that lie with it."""
    if not edges:
        return content
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    stored = tuple((edge.source, edge.target, edge.type, edge.strength) for edge in edges)
    tags = [*content["tags"], *(tag("edge", end) for end in sorted(ends))]
    return content | {"tags": tags, "edges": _EDGES.encode(stored).decode()}


def holders(resident: Resident, as_of: int, record_ids: Sequence[str], limit: int) -> list[str]:
    """Return the newest ``limit`` records with which edges at these records lie, closed ones too."""
    tags = [tag("edge", record_id) for record_id in record_ids]
    columns = [column for column in resident.columns.values() if column.knows(tags)]
    chosen = ((one, one.selected(as_of, [tags], closed_too=True)) for one in columns)
    found = [best for column, rows in chosen if len(rows) for best in column.newest(rows, limit)]
    return [record_id for _, record_id in sorted(found)[:limit]]


def edge_rows(space: Space, content: Payload) -> list[EdgeRow]:
    """Return the edges that lie with a point."""
    stored = _EDGES.decode(content["edges"].encode())
    return [
        EdgeRow(space=space, source=source, target=target, type=kind, strength=strength, since=content["since"])
        for source, target, kind, strength in stored
    ]


def at_records(held: Mapping[str, Sequence[EdgeRow]], record_ids: Sequence[str]) -> list[EdgeRow]:
    """Return of the edges of some events those at the records asked for, each once, in order."""
    asked = frozenset(record_ids)
    every = (edge for edges in held.values() for edge in edges)
    found = {(e.source, e.target, e.type): e for e in every if e.source in asked or e.target in asked}
    return [found[key] for key in sorted(found)]
