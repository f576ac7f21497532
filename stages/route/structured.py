"""The records of what a turn lists: written, put in the place of older ones, taken back when their turn is revised."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.extracted import Extracted
from schemas.memory import OPEN, ChangedRow, ClosedRow, EdgeRow, EdgeType, RecordKind, RecordRow
from schemas.routed import RecordVector
from schemas.structured import Structured
from stages.route.ids import person, structured_id, turn_record_id
from stages.route.routers import MAX_RETIRED, Changes
from stages.route.state import Known
from stages.route.strengths import LISTED, SUPERSEDES
from stages.route.targets import Reader


def structured_records(extracted: Extracted) -> tuple[list[RecordRow], list[RecordVector]]:
    """Return the structured records of a turn and their vectors."""
    rows = [_record(extracted, ordinal, one) for ordinal, one in enumerate(extracted.structured)]
    pairs = zip(rows, extracted.structured, strict=True)
    return rows, [RecordVector(record_id=row.id, vector=one.vector) for row, one in pairs]


def _record(extracted: Extracted, ordinal: int, one: Structured) -> RecordRow:
    header, turn = extracted.header, extracted.localized.normalized.turn
    return RecordRow(
        space=header.space,
        id=structured_id(header.space, header.position, ordinal),
        kind=RecordKind.STRUCTURED,
        text=one.text,
        owner=one.owner,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        provenance=one.provenance,
        span=one.span,
        since=header.position,
        branch=extracted.localized.placement.branch,
        suspect=one.suspect,
        form=one.form,
        heading=one.heading,
        members=one.members,
        numbers=one.numbers,
        more=one.more,
        revision=one.revision,
    )


def rests(extracted: Extracted) -> tuple[tuple[str, ...], ...]:
    """Return what the state keeps of a turn's structured records: the other turns that each has words of."""
    return tuple(tuple(map(person, one.provenance[1:])) for one in extracted.structured)


def structured_edges(reader: Reader, extracted: Extracted) -> list[EdgeRow]:
    """Return the edges from a turn to what it lists, and from each record to the one whose place it takes."""
    own = turn_record_id(reader.space, reader.position)
    edges = list[EdgeRow]()
    for ordinal, one in enumerate(extracted.structured):
        name = structured_id(reader.space, reader.position, ordinal)
        edges.append(reader.edge(own, name, EdgeType.SUPPORTS, LISTED))
        if one.revises is not None:
            edges.append(reader.edge(name, one.revises, EdgeType.SUPERSEDES, SUPERSEDES))
    return edges


async def supersede(reader: Reader, extracted: Extracted, withdrawn: Iterable[ClosedRow], changes: Changes) -> None:
    """Mark the records whose place the turn's own take: a change, since what was listed before was listed.

    A record is marked once: one whose successor was taken back by a revision goes on pointing to that, and that to what
    the revision put there.

    Raises:
        Unavailable: if the index does not answer.
    """
    gone = {row.id for row in withdrawn}
    for ordinal, one in enumerate(extracted.structured):
        if one.revises is None or one.revises in gone or len(changes.retired()) >= MAX_RETIRED:
            continue
        if await _is_open(reader, one.revises):
            changes.changed.append(_mark(reader, one, ordinal))


def _mark(reader: Reader, one: Structured, ordinal: int) -> ChangedRow:
    successor = structured_id(reader.space, reader.position, ordinal)
    return ChangedRow(
        space=reader.space,
        id=one.revises or "",
        position=reader.position,
        successor=successor,
        reason=f"{one.form}: revision {one.revision}" if one.span is not None else f"{one.form}: edited",
    )


async def _is_open(reader: Reader, name: str) -> bool:
    """Tell whether a record is neither closed nor changed; one that memory does not show yet is in the state."""
    if not reader.is_open(name):
        return False
    found = (await reader.fetched([name])).get(name)
    return found is None or (found.changed is None and found.until == OPEN)


def former_structured(reader: Reader, known: Known) -> list[str]:
    """Return the ids of the structured records that a recent turn wrote."""
    return [structured_id(reader.space, known.position, ordinal) for ordinal in range(len(known.structured))]


def resting_on(reader: Reader, turn_id: str) -> list[str]:
    """Return the structured records of the last W events that other turns made of what this one listed."""
    who = person(turn_id)
    return [
        structured_id(reader.space, known.position, ordinal)
        for known in reader.state.turns
        for ordinal, turns in enumerate(known.structured)
        if who in turns
    ]
