"""What a turn writes at its own position: records, edges, corrections, and what its revision takes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.extracted import Extracted, Item
from schemas.memory import ClosedRow, EdgeRow, EdgeType, LeftRow, RecordKind, RecordRow
from schemas.routed import RecordVector
from stages.route.chain import Chain, Shown
from stages.route.edges import Weaver
from stages.route.evidence import Evidence, of_item
from stages.route.ids import person, turn_record_id
from stages.route.kept import rows_of
from stages.route.records import item_record, turn_records, view_records
from stages.route.restoring import Returned, bring_back
from stages.route.revision import Withdrawal, withdraw
from stages.route.routers import Changes, correct
from stages.route.row import KeptItem
from stages.route.state import Earlier, KeptVector, Known, RouteState
from stages.route.strengths import SUPPORT
from stages.route.structured import rests, structured_edges, structured_records, supersede
from stages.route.targets import Reader
from stages.route.topics import Reborn, Topic, reborn_topic, topic_of
from stages.route.working import Message, bits
from stages.shown import weight
from stages.stored import short, text_hash


@dataclass(frozen=True, slots=True)
class Written:
    """An item of this turn that gets a record of its own, with its ordinal."""

    ordinal: int
    item: Item
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Turning:
    """The rows of a turn by kind, and what state and working memory take of it."""

    records: tuple[RecordRow, ...]
    vectors: tuple[RecordVector, ...]
    edges: tuple[EdgeRow, ...]
    withdrawn: tuple[ClosedRow, ...]
    message: Message
    known: Known
    vectors_kept: tuple[KeptVector, ...]
    chain: Chain
    revises: int | None
    reborn: Reborn | None
    returned: Returned

    def rows(self, *, degraded: bool) -> tuple[RecordRow | EdgeRow | LeftRow, ...]:
        """Return the rows that the turn adds; its own records say ``degraded`` if rules read it or judged what left."""
        if not degraded:
            return *self.records, *self.edges, *self.returned.rows
        own = {"degraded": True}
        marked = (row.model_copy(update=own) if row.kind is RecordKind.TURN else row for row in self.records)
        return *marked, *self.edges, *self.returned.rows

    def state_after(self, state: RouteState) -> RouteState:
        """Return the state that remembers this turn."""
        after = state.with_turn(self.known, self.vectors_kept, self.chain, self.revises)
        after = after if self.reborn is None else after.with_topic(self.reborn.positions, self.reborn.topic.record)
        return after if self.returned.made is None else after.with_made(self.returned.made, (), self.returned.owed)


async def turn_rows(reader: Reader, extracted: Extracted, changes: Changes) -> Turning:
    """Return what a turn writes; its corrections are routed at once, into ``changes``."""
    withdrawal = await withdraw(reader, extracted)
    returned = await bring_back(reader, extracted, withdrawal.absorbed)
    written = written_of(reader, extracted, withdrawal)
    own = [one.evidence for one in written]
    topic, fresh = await topic_of(reader, extracted)
    reborn = reborn_topic(reader, extracted, withdrawal.orphaned)
    turns, vectors = turn_records(extracted)
    views, view_vectors = view_records(extracted)
    lists, list_vectors = structured_records(extracted)
    edges = await Weaver(reader, extracted).all(own, topic)
    await corrected(reader, written, withdrawal, changes)
    await supersede(reader, extracted, withdrawal.closed, changes)
    revises = extracted.localized.normalized.revises
    chain, windows = reader.state.chain.placed(reader.position, weight(extracted.localized.normalized.turn), revises)
    speaker, earlier = person(extracted.localized.normalized.turn.speaker.id), earlier_of(written)
    rows, kept = rows_of(speaker, [(one.ordinal, one.evidence) for one in written], earlier)
    return Turning(
        records=(
            *turns,
            *(item_record(extracted, one.ordinal, one.item) for one in written),
            *lists,
            *(() if fresh is None else (fresh,)),
            *(() if reborn is None else (reborn.record,)),
            *views,
        ),
        vectors=(
            *vectors,
            *view_vectors,
            *(RecordVector(record_id=one.evidence.id, vector=one.item.vector) for one in written),
            *list_vectors,
        ),
        edges=(
            *edges,
            *_supported(reader, extracted, withdrawal),
            *(() if reborn is None else reborn.edges),
            *structured_edges(reader, extracted),
        ),
        withdrawn=tuple(map(returned.closing, withdrawal.closed)) if returned.successors else withdrawal.closed,
        message=message_of(reader.position, written),
        known=_known(extracted, withdrawal, topic, rows, windows).model_copy(
            update=dict(zip(("earlier", "earliest"), earlier, strict=False))
        ),
        vectors_kept=kept,
        chain=chain,
        revises=revises,
        reborn=reborn,
        returned=returned,
    )


def written_of(reader: Reader, extracted: Extracted, withdrawal: Withdrawal) -> list[Written]:
    """Return the items that get records: none twice, and none that the former revision's record still says.

    An event may bring what several people said, each of themselves: the same words are then as many statements.
    """
    at = int(extracted.localized.normalized.turn.at.timestamp())
    seen = set[tuple[str, str]]()
    found = list[Written]()
    for ordinal, item in enumerate(extracted.items):
        text = text_hash(item.text)
        if text not in withdrawal.kept and (item.owner, text) not in seen:
            seen.add((item.owner, text))
            evidence = of_item(reader.space, reader.position, ordinal, item, at)
            found.append(Written(ordinal, item, evidence))
    return found


async def corrected(reader: Reader, written: Sequence[Written], withdrawal: Withdrawal, changes: Changes) -> None:
    """Route the corrections among items into ``changes``; what is withdrawn is no target."""
    items = [one.evidence for one in written if one.item.corrects and not one.item.suspect]
    if items:
        gone = {row.id for row in withdrawal.closed}
        known = await reader.candidates(items)
        correct(items, {group: [o for o in ones if o.id not in gone] for group, ones in known.items()}, changes)


def _supported(reader: Reader, extracted: Extracted, withdrawal: Withdrawal) -> list[EdgeRow]:
    """Return the edges from a revised turn to the items that it still says."""
    kinds = {text_hash(item.text): item.kind for item in extracted.items}
    return [
        reader.edge(turn_record_id(reader.space, reader.position), name, EdgeType.SUPPORTS, SUPPORT[kinds[text]])
        for text, name in withdrawal.kept.items()
    ]


def message_of(position: int, written: Sequence[Written]) -> Message:
    """Return what working memory holds: corrections were routed already, suspect items and guesses never are."""
    return Message(
        position=position,
        items=bits(one.ordinal for one in written),
        route=bits(one.ordinal for one in written if not (one.item.corrects or one.item.suspect or one.item.tentative)),
        changes=bits(one.ordinal for one in written if one.item.changes),
    )


def earlier_of(written: Sequence[Written]) -> tuple[Earlier, ...]:
    """Return which items are of earlier turns, the nearest turn first: of the chunks that were read with this one."""
    speakers = {one.evidence.back: person(one.item.quoted.speaker.id) for one in written if one.item.quoted is not None}
    return tuple(
        Earlier(back=back, items=bits(one.ordinal for one in written if one.evidence.back == back), speaker=speaker)
        for back, speaker in sorted(speakers.items())
    )


def _known(
    extracted: Extracted,
    withdrawal: Withdrawal,
    topic: Topic | None,
    rows: tuple[KeptItem, ...],
    windows: tuple[Shown, ...],
) -> Known:
    normalized = extracted.localized.normalized
    return Known(
        position=extracted.header.position,
        turn_id=short(normalized.turn.turn_id),
        speaker=person(normalized.turn.speaker.id),
        branch=extracted.localized.placement.branch,
        at=int(normalized.turn.at.timestamp()),
        pieces=len(normalized.pieces),
        items=rows,
        windows=windows,
        topic=topic.name if topic is not None else "",
        topic_record=topic.record if topic is not None else "",
        kept=tuple((name, text) for text, name in withdrawal.kept.items()),
        structured=rests(extracted),
    )
