"""The edges of the typed graph in the index: those of an event lie with one of its records, its turn's if it has one.

Payload of that point: ``edges``, and in its ``tags`` what they touch (``edge ID``), so that they are found from either
end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from infra.qdrant.points import Payload, tag
from infra.qdrant.resident import Resident
from schemas.memory import EdgeRow, EdgeType, RecordKind
from schemas.space import Space
from stages.woven import Woven
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
    """Return the newest ``limit`` turns with which edges at these records lie, and as many other records.

    Closed ones too. Each have a limit of their own: what nights say of a record does not crowd out its turns.
    """
    tags = [tag("edge", record_id) for record_id in record_ids]
    of_turns, of_others = list[tuple[int, str]](), list[tuple[int, str]]()
    for kind, column in resident.columns.items():
        if column.knows(tags):
            rows = column.selected(as_of, [tags], closed_too=True)
            (of_turns if kind is RecordKind.TURN else of_others).extend(column.newest(rows, limit) if len(rows) else [])
    return [record_id for found in (of_turns, of_others) for _, record_id in sorted(found)[:limit]]


def edge_rows(space: Space, content: Payload) -> list[EdgeRow]:
    """Return the edges that lie with a point."""
    stored = _EDGES.decode(content["edges"].encode())
    return [
        EdgeRow(space=space, source=source, target=target, type=kind, strength=strength, since=content["since"])
        for source, target, kind, strength in stored
    ]


def woven(resident: Resident, as_of: int, held: Mapping[str, Sequence[EdgeRow]], record_ids: Collection[str]) -> Woven:
    """Return of the edges of some events, given by their holders, those at the records asked for: once, in order.

    What an event without a turn made leads nowhere once it is closed: a night taken back leaves the graph as it was.
    """
    asked = frozenset(record_ids)
    touching = {
        holder: [one for one in edges if one.source in asked or one.target in asked] for holder, edges in held.items()
    }
    turns = {holder for holder in touching if resident.is_turn(holder)}
    others = (edge for holder, edges in touching.items() if holder not in turns for edge in edges)
    return Woven(
        _in_order(edge for holder in turns for edge in touching[holder]),
        _in_order(edge for edge in others if not _has_ended(resident, as_of, edge)),
    )


def _in_order(edges: Iterable[EdgeRow]) -> list[EdgeRow]:
    found = {(edge.source, edge.target, edge.type): edge for edge in edges}
    return [found[key] for key in sorted(found)]


def _has_ended(resident: Resident, as_of: int, edge: EdgeRow) -> bool:
    """Tell whether an end of an edge that came with it was closed."""
    return any(resident.was_closed(end, edge.since, as_of) for end in (edge.source, edge.target))
