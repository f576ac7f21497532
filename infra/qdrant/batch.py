"""A batch of committed events as what is to be written: checked whole before anything of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from schemas.committed import Committed
from schemas.memory import OPEN, ChangedRow, ClosedRow, EdgeRow, LeftRow, RecordKind, RecordRow
from schemas.space import Space


@dataclass(slots=True)
class Mark:
    """What happened to a record after it was written; ``None`` where nothing did."""

    until: int | None = None
    successor: str | None = None
    changed: tuple[int, str] | None = None
    left: int | None = None

    def changes(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the payload fields to set on a point: what has happened stays, so only open ones."""
        fields: dict[str, Any] = {}
        if self.until is not None and content.get("until", OPEN) == OPEN:
            fields["until"] = self.until
            if self.successor is not None:
                fields["successor"] = self.successor
        if self.changed is not None and content.get("changed") is None:
            fields["changed"] = list(self.changed)
        if self.left is not None and content.get("left") is None:
            fields["left"] = self.left
        return fields


@dataclass(slots=True)
class Batch:
    """The rows of some events of a space, each id once, the first one standing.

    ``edges`` are those of an event, by the id of the record that they lie with.
    """

    space: Space
    records: dict[str, RecordRow] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    edges: dict[str, list[EdgeRow]] = field(default_factory=dict)
    last: int = -1


def collect(space: Space, events: Sequence[Committed], dimension: int) -> Batch:
    """Gather the rows of ``events``.

    Raises:
        ValueError: if a row names another space or an id that is no UUID, or a vector is not ``dimension`` bytes long
            or is of a record that its event does not write.
    """
    batch = Batch(space)
    for event in events:
        _require(event.header.space == space, f"an event of another space, {event.header.space}, in a batch of {space}")
        for row in event.rows:
            _require(row.space == space, f"a row of another space, {row.space}, in {space} at {event.header.position}")
            _take(batch, row)
        _take_vectors(batch, event, dimension)
        _take_edges(batch, event)
        batch.last = max(batch.last, event.header.position)
    return batch


def _take(batch: Batch, row: object) -> None:
    match row:
        case RecordRow():
            _require(is_id(row.id), f"record {row.id!r} of {row.space}: its id is not a UUID")
            batch.records.setdefault(row.id, row)
        case ClosedRow() | LeftRow() | ChangedRow():
            _require(is_id(row.id), f"{row.row} row of {row.space}: {row.id!r} is not a UUID")
            _mark(batch.marks.setdefault(row.id, Mark()), row)


def _mark(mark: Mark, row: ClosedRow | LeftRow | ChangedRow) -> None:
    match row:
        case ClosedRow() if mark.until is None:
            mark.until, mark.successor = row.until, row.successor
        case LeftRow() if mark.left is None:
            mark.left = row.position
        case ChangedRow() if mark.changed is None:
            mark.changed = (row.position, row.successor)
        case _:
            pass  # the first of an id stands


def _take_vectors(batch: Batch, event: Committed, dimension: int) -> None:
    written = {row.id for row in event.rows if isinstance(row, RecordRow)}
    where = f"{event.header.space} at {event.header.position}"
    for given in event.vectors:
        _require(
            given.record_id in written, f"{where}: a vector of {given.record_id!r}, which the event does not write"
        )
        size = len(given.vector)
        _require(size == dimension, f"{where}: the vector of {given.record_id} has {size} bytes, not {dimension}")
        batch.vectors.setdefault(given.record_id, given.vector)


def _take_edges(batch: Batch, event: Committed) -> None:
    """Note the edges of an event with its turn's own record, else with the record of the least id."""
    edges = [row for row in event.rows if isinstance(row, EdgeRow)]
    records = [row for row in event.rows if isinstance(row, RecordRow)]
    if edges and records:
        holder = min(records, key=lambda row: (row.turn is None, row.kind is not RecordKind.TURN, row.id))
        ordered = sorted(edges, key=lambda edge: (edge.source, edge.target, edge.type))
        batch.edges.setdefault(holder.id, ordered)


def is_id(text: str) -> bool:
    """Whether a text can be a record's id: a UUID as it is usually written."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _require(holds: bool, message: str) -> None:  # noqa: FBT001 - an assertion: the condition is its subject
    if not holds:
        raise ValueError(message)
