"""A space that is talked into: turns go through the real stage ``normalize`` in order, and into a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.control import Control, Passed
from schemas.header import EventKind, Header, record_id
from schemas.localized import Placement, Rule
from schemas.memory import RecordKind, RecordRow, TurnDetail
from schemas.normalized import Normalized
from schemas.numbered import Numbered
from schemas.space import Space
from schemas.turn import Attachment, Speaker, Turn
from stages.contract import Duplicate, Emit, Reject
from stages.normalize import Normalize, NormalizeState
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.history import MemoryHistory

SPACE = Space("acme/u-42")
START = datetime(2024, 5, 16, 12, tzinfo=UTC)


def turn_of(text: str, turn_id: str = "t", *, speaker: str = "Mia", captions: Sequence[str] = (), **more: Any) -> Turn:
    """Return a turn of the speaker with this name; ``more`` are its other fields."""
    return Turn(
        **{
            "space": SPACE,
            "turn_id": turn_id,
            "speaker": Speaker(id="u-1", name=speaker),
            "text": text,
            "at": START,
            "attachments": tuple(Attachment(caption=caption) for caption in captions),
            **more,
        }
    )


@dataclass
class Talk:
    """``outcomes`` are those of ``say``, in order. ``remember`` puts what was emitted into memory, as commit would."""

    stage: Normalize = field(default_factory=lambda: Normalize(DigestEmbedder(), MemoryHistory()))
    state: NormalizeState = field(default_factory=NormalizeState)
    position: int = 0

    async def say(
        self, event: Turn | Control | str, turn_id: str | None = None, *, captions: Sequence[str] = (), **more: Any
    ) -> Emit[Normalized | Passed, NormalizeState] | Duplicate | Reject:
        if isinstance(event, str):
            at = START + timedelta(minutes=self.position)
            event = turn_of(event, turn_id or f"t{self.position}", captions=captions, **{"at": at, **more})
        outcome = await self.stage.decide(self.numbered(event), self.state)
        if isinstance(outcome, Emit):
            self.state = outcome.state
        self.position += not isinstance(outcome, Duplicate)
        return outcome

    async def hear(self, *args: Any, **more: Any) -> Normalized:
        """Say something that has to come out as a normalized turn, and remember it."""
        outcome = await self.say(*args, **more)
        assert isinstance(outcome, Emit), outcome
        assert isinstance(outcome.message, Normalized)
        self.remember(outcome.message)
        return outcome.message

    async def chat(self, count: int) -> None:
        """Let ``count`` other turns go by."""
        for _ in range(count):
            await self.hear(f"Number {self.position} passes by.")

    def numbered(self, event: Turn | Control) -> Numbered:
        kind, event_id = (
            (EventKind.TURN, event.turn_id) if isinstance(event, Turn) else (EventKind.CONTROL, event.event_id)
        )
        header = Header(space=event.space, position=self.position, kind=kind, event_id=event_id, offset=self.position)
        return Numbered(header=header, event=event)

    def remember(self, message: Normalized) -> None:
        assert isinstance(self.stage.history, MemoryHistory)
        self.stage.history.add(_records(message))


def _records(message: Normalized) -> list[RecordRow]:
    turn, position = message.turn, message.header.position
    detail = TurnDetail(
        turn_id=turn.turn_id,
        revision=turn.revision,
        reply_to=turn.reply_to,
        z=message.z,
        times=message.times,
        mentions=message.mentions,
        placement=Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position),
    )
    return [
        RecordRow(
            space=turn.space,
            id=record_id(turn.space, position, "turn", number),
            kind=RecordKind.TURN,
            text=piece.text,
            owner=turn.speaker.id,
            speaker=turn.speaker,
            at=turn.at,
            provenance=(turn.turn_id,),
            since=position,
            piece=number,
            turn=None if number else detail,
        )
        for number, piece in enumerate(message.pieces)
    ]
