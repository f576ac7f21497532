"""What a drain brings with it: items of turns that had waited for a reply, which leave at once with all the others."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.extracted import Extracted
from schemas.memory import EdgeRow, RecordRow
from schemas.routed import RecordVector
from stages.route.edges import Weaver
from stages.route.ids import person
from stages.route.kept import rows_of
from stages.route.records import item_record, view_records
from stages.route.revision import Withdrawal
from stages.route.routers import Changes
from stages.route.state import Known, RouteState
from stages.route.targets import Reader
from stages.route.turn import corrected, earlier_of, message_of, written_of
from stages.route.working import Leaving
from stages.stored import short


@dataclass(frozen=True, slots=True)
class Brought:
    """The rows and vectors of the items (and views), the segment that they are, and the state that knows them."""

    rows: tuple[RecordRow | EdgeRow, ...]
    vectors: tuple[RecordVector, ...]
    leaving: Leaving
    state: RouteState


async def brought(reader: Reader, read: Extracted, changes: Changes) -> Brought:
    """Return what was read with a drain; its corrections are routed at once, into ``changes``.

    Raises:
        Unavailable: if the index does not answer.
    """
    written = written_of(reader, read, Withdrawal())
    await corrected(reader, written, Withdrawal(), changes)
    turn, earlier = read.localized.normalized.turn, earlier_of(written)
    rows, kept = rows_of(person(turn.speaker.id), [(one.ordinal, one.evidence) for one in written], earlier)
    views, view_vectors = view_records(read)
    known = Known(
        position=reader.position,
        turn_id="",
        speaker=person(turn.speaker.id),
        branch=read.localized.placement.branch,
        at=int(turn.at.timestamp()),
        pieces=0,
        items=rows,
        revised=True,  # no turn stands at this position that another could follow
    ).model_copy(update=dict(zip(("earlier", "earliest"), earlier, strict=False)))
    return Brought(
        rows=(
            *(item_record(read, one.ordinal, one.item) for one in written),
            *views,
            *Weaver(reader, read).of_items([one.evidence for one in written]),
        ),
        vectors=(
            *(RecordVector(record_id=one.evidence.id, vector=one.item.vector) for one in written),
            *view_vectors,
        ),
        leaving=Leaving(short(turn.speaker.id), (message_of(reader.position, written),)),
        state=reader.state.with_turn(known, kept, reader.state.chain, None),
    )
