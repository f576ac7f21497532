"""What a revision brings back: records that a merge had absorbed, and that do not rest on the former text (route 5).

A record is immutable, so what comes back is a copy. It is read from memory; what memory does not show yet, and what the
state has no room for, is *owed* and comes with a later turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from schemas.extracted import Extracted
from schemas.memory import ClosedRow, EdgeRow, LeftRow, RecordRow
from stages.route.evidence import said_at
from stages.route.ids import MOST_ORDINALS, item_id, made_id, position_of, reference, referred
from stages.route.made import ROOM, Made, MadeEvent, cost, turn_mark
from stages.route.making import left, made_of, record_of, resting
from stages.route.reads import Reads
from stages.route.sources import references
from stages.stored import REVISED

Absorbed = dict[str, int | None]
"""Ids of what a merged record stood for, with their references where the state has them."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The rows of what comes back with an event, what the state keeps of it, and what is still owed."""

    rows: tuple[RecordRow | LeftRow | EdgeRow, ...] = ()
    made: MadeEvent | None = None
    owed: tuple[int, ...] = ()
    successors: tuple[tuple[str, str], ...] = ()

    def closing(self, row: ClosedRow) -> ClosedRow:
        """Return a closing with the first record that came back in the place of what it closes."""
        return row.model_copy(update={"successor": dict(self.successors).get(row.id, row.successor)})


@dataclass(frozen=True, slots=True)
class _Found:
    """What is to come back: records of memory with whose place they were taken from, and what has to wait."""

    records: dict[str, RecordRow]
    late: dict[str, int]
    of: dict[str, str]


async def bring_back(reader: Reads, extracted: Extracted, merged: Mapping[str, Absorbed]) -> Returned:
    """Return what comes back with a turn: what it owed, and what the records ``merged`` that it closes had absorbed.

    Raises:
        Unavailable: if the index does not answer.
    """
    owed = [number for number in reader.state.owed if not _revised(reader, extracted, number)]
    if not (reader.state.owed or merged):
        return Returned()
    due = {referred(reader.space, number): number for number in owed if position_of(number) <= reader.as_of}
    shown = {name: one.record for name, one in (await reader.fetched(due)).items()}
    found = await _absorbed(reader, extracted, merged)
    waiting = [number for number in owed if referred(reader.space, number) not in shown]
    fit = {name: record for name, record in shown.items() if not _rests(record, extracted)}
    records = fit | found.records
    stood = await references(reader, [name for record in records.values() for name in record.stands_for])
    return _returned(reader, records, stood, [*waiting, *found.late.values()], found.of)


def _revised(reader: Reads, extracted: Extracted, number: int) -> bool:
    """Tell whether what is owed rests on the text that this turn revises."""
    name, normalized = referred(reader.space, number), extracted.localized.normalized
    return normalized.revises is not None and name in _resting(reader, normalized.revises, normalized.turn.turn_id)


def _rests(record: RecordRow, extracted: Extracted) -> bool:
    """Tell whether a record rests on the text that this turn revises."""
    normalized = extracted.localized.normalized
    return normalized.revises is not None and normalized.turn.turn_id in record.provenance


def _resting(reader: Reads, position: int, turn_id: str) -> set[str]:
    """Return the records of the state that rest on the turn of ``position``."""
    said = {
        item_id(reader.space, known.position, row.ordinal)
        for known in reader.state.turns
        for row in known.items
        if known.position - known.back(row.ordinal) == position
    }
    mark = turn_mark(turn_id)
    return said | {made_id(reader.space, at, one.row.ordinal) for at, one in reader.made if one.rests_on(mark)}


async def _absorbed(reader: Reads, extracted: Extracted, merged: Mapping[str, Absorbed]) -> _Found:
    """Return what these records stood for; of what rests on the former text itself, what that stood for in its turn."""
    normalized = extracted.localized.normalized
    turn_id = normalized.turn.turn_id
    resting = _resting(reader, normalized.revises if normalized.revises is not None else -1, turn_id)
    stood = {made_id(reader.space, at, one.row.ordinal): one.stood for at, one in reader.made}
    found = _Found({}, {}, {})
    pending = {name: (number, owner) for owner, names in merged.items() for name, number in names.items()}
    while pending:
        shown = await reader.fetched(pending)
        after: dict[str, tuple[int | None, str]] = {}
        for name, (number, owner) in pending.items():
            record = shown[name].record if name in shown else None
            if record is None and name in resting:
                after |= {referred(reader.space, one): (one, owner) for one in stood.get(name, ())}
            elif record is None and number is not None:
                found.late[name] = number
            elif record is not None and turn_id in record.provenance:
                after |= dict.fromkeys(record.stands_for, (None, owner))
            elif record is not None:
                found.records[name] = record
                found.of[name] = owner
        pending = {name: where for name, where in after.items() if name not in found.records}
    return found


def _returned(
    reader: Reads, records: Mapping[str, RecordRow], stood: Mapping[str, int], owed: list[int], of: Mapping[str, str]
) -> Returned:
    room = ROOM - sum(len(name) + len(data) for name, data in reader.state.made_parts().items())
    rows, made, successors = list[RecordRow](), list[Made](), list[tuple[str, str]]()
    for name, record in records.items():
        copy = _copy(reader, len(rows), record)
        entry = made_of(copy, len(rows), (stood[one] for one in copy.stands_for if one in stood), full=False)
        if cost(entry) > room or len(rows) >= MOST_ORDINALS:
            number = reference(reader.space, name, record.since, record)
            owed += [] if number is None else [number]
            continue
        room -= cost(entry)
        rows.append(copy)
        made.append(entry)
        successors += [(of[name], copy.id)] if name in of else []
    return Returned(
        rows=(*rows, *(row for one in rows for row in left(reader, one)), *_edges(reader, rows)),
        made=MadeEvent(position=reader.position, records=tuple(made)),
        owed=tuple(owed),
        successors=tuple(reversed(successors)),
    )


def _copy(reader: Reads, ordinal: int, record: RecordRow) -> RecordRow:
    """Return a copy of a record at this event: what says that it is none of a turn's own is its run."""
    said = record.model_copy(update={"run": record.run or f"{REVISED}{reader.position}", "said_at": said_at(record)})
    return record_of(reader, ordinal, said)


def _edges(reader: Reads, rows: Iterable[RecordRow]) -> Iterator[EdgeRow]:
    return (edge for row in rows for edge in resting(reader, row, [said_at(row)]))
