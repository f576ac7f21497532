"""The four stages before commit in their smallest honest form: real messages and ids, no understanding.

They let the engine and the runtimes be tested apart from what the real stages decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.base import Model
from schemas.control import Control, Passed
from schemas.extracted import Extracted
from schemas.header import record_id
from schemas.localized import Localized, Placement, Rule
from schemas.memory import RecordKind, RecordRow, TurnDetail
from schemas.normalized import Attitude, Normalized, Piece, Understanding
from schemas.numbered import Numbered
from schemas.routed import RecordVector, Routed
from schemas.span import Span
from stages.contract import Duplicate, Emit, Reject, StageState
from stages.ports import Embedder

BLANK = "blank"


class Seen(Model):
    """Turn ids seen, for the fake normalize's duplicates; a counter for the others."""

    ids: tuple[str, ...] = ()
    events: int = 0

    def parts(self) -> Mapping[str, bytes]:
        return {"seen": self.model_dump_json().encode()}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Seen:
        return cls.model_validate_json(parts["seen"])

    def after(self, event_id: str = "") -> Seen:
        ids = (*self.ids, event_id) if event_id else self.ids
        return Seen(ids=ids, events=self.events + 1)


_: type[StageState] = Seen


@dataclass(frozen=True)
class _Base:
    def initial(self, space: str) -> Seen:
        return Seen()

    def restore(self, parts: Mapping[str, bytes]) -> Seen:
        return Seen.from_parts(parts)


@dataclass(frozen=True)
class FakeNormalize(_Base):
    """Rejects blank text, drops known ids, embeds the rest."""

    embedder: Embedder
    name: ClassVar[str] = "normalize"

    async def prepare(self, messages: Sequence[Numbered]) -> None:
        await self.embedder.embed([m.event.text for m in messages if not isinstance(m.event, Control)])

    async def decide(self, message: Numbered, state: Seen) -> Emit[Normalized | Passed, Seen] | Duplicate | Reject:
        event, header = message.event, message.header
        if header.event_id in state.ids:
            return Duplicate("known")
        if isinstance(event, Control):
            return Emit(Passed(header=header, control=event), state.after(header.event_id))
        if not event.text.strip():
            return Reject(BLANK)
        (vector,) = await self.embedder.embed([event.text])
        span = Span(start=0, end=len(event.text))
        z = Understanding(summary=event.text[:100], topic="t", attitude=Attitude.NONE)
        pieces = (Piece(span=span, text=event.text, vector=vector),)
        out = Normalized(header=header, turn=event, text=event.text, pieces=pieces, z=z)
        return Emit(out, state.after(header.event_id))


@dataclass(frozen=True)
class FakeLocalize(_Base):
    """Every turn is a root."""

    name: ClassVar[str] = "localize_state"

    async def prepare(self, messages: Sequence[Normalized | Passed]) -> None: ...

    async def decide(
        self, message: Normalized | Passed, state: Seen
    ) -> Emit[Localized | Passed, Seen] | Duplicate | Reject:
        if isinstance(message, Passed):
            return Emit(message, state.after())
        position = message.header.position
        placement = Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position)
        return Emit(Localized(header=message.header, normalized=message, placement=placement), state.after())


@dataclass(frozen=True)
class FakeExtract(_Base):
    """Takes nothing out."""

    name: ClassVar[str] = "extract_per_view"

    async def prepare(self, messages: Sequence[Localized | Passed]) -> None: ...

    async def decide(
        self, message: Localized | Passed, state: Seen
    ) -> Emit[Extracted | Passed, Seen] | Duplicate | Reject:
        if isinstance(message, Passed):
            return Emit(message, state.after())
        return Emit(Extracted(header=message.header, localized=message), state.after())


@dataclass(frozen=True)
class FakeRoute(_Base):
    """Makes the turn's own record."""

    name: ClassVar[str] = "route"

    async def prepare(self, messages: Sequence[Extracted | Passed]) -> None: ...

    async def decide(self, message: Extracted | Passed, state: Seen) -> Emit[Routed, Seen] | Duplicate | Reject:
        if isinstance(message, Passed):
            return Emit(Routed(header=message.header, source=message), state.after())
        row = turn_record(message)
        vector = RecordVector(record_id=row.id, vector=message.localized.normalized.pieces[0].vector)
        return Emit(Routed(header=message.header, source=message, rows=(row,), vectors=(vector,)), state.after())


def turn_record(extracted: Extracted) -> RecordRow:
    """Return the record of a turn of one piece."""
    normalized, header = extracted.localized.normalized, extracted.header
    turn = normalized.turn
    return RecordRow(
        space=header.space,
        id=record_id(header.space, header.position, "turn"),
        kind=RecordKind.TURN,
        text=normalized.text,
        owner=turn.speaker.id,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        provenance=(turn.turn_id,),
        since=header.position,
        branch=extracted.localized.placement.branch,
        turn=TurnDetail(
            turn_id=turn.turn_id,
            revision=turn.revision,
            reply_to=turn.reply_to,
            z=normalized.z,
            times=normalized.times,
            mentions=normalized.mentions,
            placement=extracted.localized.placement,
        ),
    )
