"""The records of a turn: one for each piece of its text, one for each item (architecture, section 5)."""

from __future__ import annotations

from schemas.extracted import Extracted, Item, Key, Quoted
from schemas.header import RecordRole, record_id
from schemas.memory import RecordKind, RecordRow, TurnDetail
from schemas.normalized import Piece
from schemas.routed import RecordVector
from schemas.view import FoundView
from stages.route.evidence import RECORDS
from stages.route.ids import item_id, turn_record_id


def turn_records(extracted: Extracted) -> tuple[list[RecordRow], list[RecordVector]]:
    """Return the records of the turn's pieces, the first with all that is known of the turn, and their vectors."""
    normalized = extracted.localized.normalized
    rows = [_piece(extracted, ordinal, piece) for ordinal, piece in enumerate(normalized.pieces)]
    pairs = zip(rows, normalized.pieces, strict=True)
    return rows, [RecordVector(record_id=row.id, vector=piece.vector) for row, piece in pairs]


def _piece(extracted: Extracted, ordinal: int, piece: Piece) -> RecordRow:
    header, normalized = extracted.header, extracted.localized.normalized
    turn = normalized.turn
    return RecordRow(
        space=header.space,
        id=turn_record_id(header.space, header.position, ordinal),
        kind=RecordKind.TURN,
        text=piece.text,
        owner=turn.speaker.id,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        attitude=normalized.z.attitude,
        provenance=(turn.turn_id,),
        since=header.position,
        branch=extracted.localized.placement.branch,
        piece=ordinal,
        suspect=normalized.suspect,
        degraded=normalized.degraded,
        turn=_detail(extracted) if ordinal == 0 else None,
    )


def _detail(extracted: Extracted) -> TurnDetail:
    normalized = extracted.localized.normalized
    return TurnDetail(
        turn_id=normalized.turn.turn_id,
        revision=normalized.turn.revision,
        reply_to=normalized.turn.reply_to,
        z=normalized.z,
        times=normalized.times,
        mentions=normalized.mentions,
        placement=extracted.localized.placement,
    )


def item_record(extracted: Extracted, ordinal: int, item: Item) -> RecordRow:
    """Return the record of an item; it is in working memory from the position on at which it came."""
    header, said = extracted.header, item.quoted or _said(extracted)
    return RecordRow(
        space=header.space,
        id=item_id(header.space, header.position, ordinal),
        kind=RECORDS[item.kind],
        text=item.text,
        owner=item.owner,
        speaker=said.speaker,
        at=said.at,
        session=said.session,
        key=item.key,
        views=item.views,
        slots=item.slots,
        attitude=item.attitude,
        negated=item.negated,
        interval=item.interval,
        provenance=item.provenance,
        span=item.span,
        since=header.position,
        branch=said.branch,
        suspect=item.suspect,
        degraded=item.degraded,
        said_at=None if item.quoted is None else item.quoted.position,
        rests_on=item.rests_on,
        suggested_by=item.suggested_by,
        view_set=item.view_set,
    )


def _said(extracted: Extracted) -> Quoted:
    """Return what an item says of the turn that it came with."""
    turn = extracted.localized.normalized.turn
    return Quoted(
        position=extracted.header.position,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        branch=extracted.localized.placement.branch,
    )


def view_records(extracted: Extracted) -> tuple[list[RecordRow], list[RecordVector]]:
    """Return the records of the views that came with a turn, and their vectors."""
    rows = [_view(extracted, ordinal, found) for ordinal, found in enumerate(extracted.views)]
    pairs = zip(rows, extracted.views, strict=True)
    return rows, [RecordVector(record_id=row.id, vector=found.vector) for row, found in pairs]


def _view(extracted: Extracted, ordinal: int, found: FoundView) -> RecordRow:
    """Return the record of a view; its key says whether it is a candidate or of which set."""
    header, version = extracted.header, found.detail.version
    return RecordRow(
        space=header.space,
        id=record_id(header.space, header.position, RecordRole.VIEW, ordinal),
        kind=RecordKind.VIEW,
        text=found.text,
        owner=None,
        speaker=None,
        at=extracted.localized.normalized.turn.at,
        key=Key(owner="", subject=None, attribute=f"view:{'candidate' if version is None else version}"),
        provenance=found.provenance,
        since=header.position,
        degraded=found.degraded,
        view=found.detail,
    )
