"""The window of a turn: itself between its neighbours, written when the next turn is known."""

from __future__ import annotations

from pydantic import AwareDatetime

from schemas.base import Model
from schemas.extracted import Extracted
from schemas.header import record_id
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from schemas.turn import Speaker
from stages.text.spoken import spoken

TURN_BYTES = 500
"""Bytes of each turn that a window shows: three of them fit an encoder of 256 word pieces in most languages."""


class WindowTurn(Model):
    """What a window needs of a turn; at most ``TURN_BYTES`` of its text."""

    position: int
    turn_id: str
    speaker: Speaker
    text: str
    at: AwareDatetime
    session: str | None
    branch: int
    suspect: bool

    @property
    def line(self) -> str:
        """The turn as one line of a window."""
        return spoken(self.speaker, self.text)


def window_turn(extracted: Extracted) -> WindowTurn:
    """Return what windows will show of this turn."""
    normalized = extracted.localized.normalized
    turn = normalized.turn
    return WindowTurn(
        position=extracted.header.position,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        text=clip(normalized.text),
        at=turn.at,
        session=turn.session,
        branch=extracted.localized.placement.branch,
        suspect=normalized.suspect,
    )


def clip(text: str) -> str:
    """Return the first ``TURN_BYTES`` bytes of ``text``, never half a character."""
    return text.encode()[:TURN_BYTES].decode("utf-8", "ignore")


def window(space: Space, turn: WindowTurn, before: WindowTurn | None, after: WindowTurn) -> RecordRow:
    """Return the window record anchored at ``turn``; it is known from the position of the turn ``after`` on."""
    shown = [other for other in (before, turn, after) if other is not None]
    neighbours = [other.turn_id for other in shown if other is not turn]
    return RecordRow(
        space=space,
        id=window_id(space, turn.position),
        kind=RecordKind.WINDOW,
        text="\n".join(other.line for other in shown),
        owner=turn.speaker.id,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        provenance=(turn.turn_id, *dict.fromkeys(name for name in neighbours if name != turn.turn_id)),
        since=after.position,
        branch=turn.branch,
        suspect=any(other.suspect for other in shown),
    )


def window_id(space: Space, position: int) -> str:
    """Return the id of the window anchored at the turn of ``position``."""
    return record_id(space, position, "window")
