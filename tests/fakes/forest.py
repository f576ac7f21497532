"""Conversations talked through the real stage ``localize_state``, turn by turn, over a memory that fills up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from infra.models.hash_embedder import HashEmbedder
from schemas.extracted import Extracted
from schemas.header import EventKind, Header
from schemas.interval import TimeMention
from schemas.localized import Localized, Placement
from schemas.memory import RecordRow
from schemas.normalized import Attitude, Normalized, Piece, Understanding
from schemas.space import Space
from schemas.span import Span
from schemas.turn import Role, Speaker, Turn
from stages.localize_state import Forest, LocalizeState
from stages.text.tokens import content_tokens
from tests.fakes.history import MemoryHistory
from tests.fakes.stages import turn_record

SPACE = Space("acme/forest")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


async def normalized(
    turn: Turn, position: int, times: Sequence[TimeMention] = (), revises: int | None = None
) -> Normalized:
    """Return what ``normalize`` would say at least: one piece, its words, a summary that names the speaker."""
    vector = await HashEmbedder().embed_query(turn.text)
    words = tuple(dict.fromkeys(content_tokens(turn.text)))
    return Normalized(
        header=Header(space=turn.space, position=position, kind=EventKind.TURN, event_id=turn.turn_id, offset=position),
        turn=turn,
        text=turn.text,
        pieces=(Piece(span=Span(start=0, end=len(turn.text)), text=turn.text, vector=vector),),
        z=Understanding(
            summary=f"{turn.speaker.label}: {turn.text}", topic=turn.text[:40], attitude=Attitude.NONE, keywords=words
        ),
        times=tuple(times),
        revises=revises,
    )


def record(message: Normalized, placement: Placement) -> RecordRow:
    """Return the turn's own record, as commit would write it."""
    localized = Localized(header=message.header, normalized=message, placement=placement)
    return turn_record(Extracted(header=message.header, localized=localized))


@dataclass
class Grove:
    """A space whose turns are placed one by one; ``placements`` are by turn id, turn ids count from ``t0``."""

    history: MemoryHistory = field(default_factory=MemoryHistory)
    state: Forest = field(default_factory=Forest)
    placements: dict[str, Placement] = field(default_factory=dict)
    position: int = 0
    minutes: float = 0

    async def say(self, who: str, text: str, *, after: float = 0.5, **more: Any) -> Placement:
        """Place a turn spoken ``after`` minutes; ``bot`` and ``bot-2`` are agents, ``*`` the channel itself."""
        self.minutes += after
        message = await normalized(
            self.turn(who, text, more), self.position, more.get("times", ()), more.get("revises")
        )
        message = message.model_copy(update={"suspect": more.get("suspect", False)})
        outcome = await LocalizeState(self.history).decide(message, self.state)
        assert isinstance(outcome.message, Localized)
        placement = outcome.message.placement
        row = record(message, placement).model_copy(update={"suspect": message.suspect})
        self.history.add([row], [(row.id, message.pieces[0].vector)])
        self.state, self.position = outcome.state, self.position + 1
        self.placements[message.turn.turn_id] = placement
        return placement

    def turn(self, who: str, text: str, more: dict[str, Any]) -> Turn:
        role = {"bot": Role.AGENT, "bot-2": Role.AGENT, "*": Role.SYSTEM}.get(who, Role.USER)
        return Turn(
            space=SPACE,
            turn_id=more.get("turn_id", f"t{self.position}"),
            speaker=Speaker(id=who, name=more.get("name"), role=role),
            text=text,
            at=START + timedelta(minutes=self.minutes),
            reply_to=more.get("reply_to"),
            session=more.get("session"),
            revision=more.get("revision", 0),
        )
