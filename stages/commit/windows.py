"""The window of a turn: itself between its neighbours, written when the next turn is known and after a revision."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import AwareDatetime

from schemas.extracted import Extracted
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from schemas.turn import Speaker
from stages.ring import PlacedModel
from stages.shown import weight, window_id
from stages.stored import clip
from stages.text.spoken import spoken

TURN_BYTES = 500
"""Bytes of each turn that a window shows: three of them fit an encoder of 256 word pieces in most languages."""


class WindowTurn(PlacedModel):
    """What a window needs of a turn; at most ``TURN_BYTES`` of its text.

    ``position`` is its number among the turns of the space, kept by the revision that takes its place; ``event`` is the
    position of the event that brought this text, ``weight`` that of ``stages.shown``.
    """

    event: int
    turn_id: str
    speaker: Speaker
    text: str
    at: AwareDatetime
    session: str | None
    branch: int
    suspect: bool = False
    weight: int = 0

    @property
    def line(self) -> str:
        """The turn as one line of a window."""
        return spoken(self.speaker, self.text)


def window_turn(extracted: Extracted) -> WindowTurn:
    """Return what windows will show of this turn."""
    normalized = extracted.localized.normalized
    turn = normalized.turn
    return WindowTurn(
        position=0,  # the state numbers it
        event=extracted.header.position,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        text=clip(normalized.text, TURN_BYTES),
        at=turn.at,
        session=turn.session,
        branch=extracted.localized.placement.branch,
        suspect=normalized.suspect,
        weight=weight(turn),
    )


@dataclass(frozen=True, slots=True)
class Window:
    """A window that is to be written: ``turn`` between its neighbours, named by ``event`` and ``ordinal``."""

    turn: WindowTurn
    before: WindowTurn | None
    after: WindowTurn
    event: int
    ordinal: int

    @property
    def shown(self) -> list[WindowTurn]:
        """The turns that it shows, in order."""
        return [self.turn, self.after] if self.before is None else [self.before, self.turn, self.after]

    @property
    def text(self) -> str:
        """What it shows of them, one a line."""
        return "\n".join(other.line for other in self.shown)


def window_record(space: Space, window: Window, since: int) -> RecordRow:
    """Return the window record that is due at the event of position ``since``, from which on it is known."""
    turn, shown = window.turn, window.shown
    neighbours = [other.turn_id for other in shown if other is not turn]
    return RecordRow(
        space=space,
        id=window_id(space, window.event, window.ordinal),
        kind=RecordKind.WINDOW,
        text=window.text,
        owner=turn.speaker.id,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        provenance=(turn.turn_id, *dict.fromkeys(name for name in neighbours if name != turn.turn_id)),
        since=since,
        branch=turn.branch,
        suspect=any(other.suspect for other in shown),
    )
