"""Chunks: an opening turn and the reply to it, closed by the reply or by the next opening turn; one of them may wait.

A turn that waits is kept in the state, where it fits: ``hand`` says which do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import AwareDatetime

from schemas.header import EventKind, Header
from schemas.localized import Localized, Placement, Rule
from schemas.normalized import Attitude, Mention, Normalized, Piece, Snippet, Understanding
from schemas.space import Space
from schemas.span import Span
from schemas.turn import Role, Speaker, Turn
from stages.packed import Packed
from stages.stored import clip, short, size
from stages.text.times import resolve_times

TEXT_BYTES: Final = 500
"""Bytes of the text of a turn in hand, all of it: what is longer is read at once (architecture, invariant 7)."""

SUMMARY_BYTES: Final = 160
_PATH_BYTES = 240
_NAME_BYTES = 64
_ENTITIES_BYTES = 160
_MENTIONS = 2
_REFERS_BYTES = 64
_SPANS = 12

Bounds = tuple[int, int]


class Open(Packed):
    """A turn that is read later, with all that this needs; times are found in its text again.

    ``own`` is the length of the turn's own text, captions stand behind it; ``facts`` and ``attributes`` are spans.
    """

    position: int
    turn: str
    speaker: str
    role: Role
    at: AwareDatetime
    branch: int
    text: str
    own: int
    name: str | None = None
    session: str | None = None
    summary: str = ""
    path: str = ""
    attitude: Attitude = Attitude.NONE
    entities: tuple[str, ...] = ()
    facts: tuple[Bounds, ...] = ()
    attributes: tuple[Bounds, ...] = ()
    mentions: tuple[Mention, ...] = ()

    def again(self, space: Space) -> Localized:
        """Return the turn as far as it is known: enough to take items out of it, by a model or by rules."""
        header = Header(
            space=space, position=self.position, kind=EventKind.TURN, event_id=self.turn, offset=self.position
        )
        placement = Placement(rule=Rule.NEW_ROOT, branch=self.branch, interaction=self.position, path_summary=self.path)
        return Localized(header=header, normalized=self._normalized(header), placement=placement)

    def _normalized(self, header: Header) -> Normalized:
        speaker = Speaker(id=self.speaker, name=self.name, role=self.role)
        turn = Turn(
            space=header.space,
            turn_id=self.turn,
            speaker=speaker,
            text=self.text[: self.own],
            at=self.at,
            session=self.session,
        )
        whole = Piece(span=Span(start=0, end=len(self.text)), text=self.text, vector=b"")
        return Normalized(
            header=header,
            turn=turn,
            text=self.text,
            pieces=(whole,),
            z=self._understanding(),
            times=resolve_times(self.text, self.at),
            mentions=self.mentions,
        )

    def _understanding(self) -> Understanding:
        return Understanding(
            summary=self.summary,
            topic="",
            attitude=self.attitude,
            facts=self._snippets(self.facts),
            attributes=self._snippets(self.attributes),
            entities=self.entities,
        )

    def _snippets(self, bounds: Sequence[Bounds]) -> tuple[Snippet, ...]:
        spans = (Span(start=start, end=end) for start, end in bounds)
        return tuple(Snippet(text=span.of(self.text), span=span) for span in spans)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One or two turns of an interaction that are read together, in order."""

    turns: tuple[Localized, ...]

    @property
    def path(self) -> str:
        """What the branch was about before the chunk."""
        return self.turns[0].placement.path_summary

    @property
    def suspect(self) -> bool:
        """Whether it is a turn shaped as instructions, which no request shows."""
        return any(turn.normalized.suspect for turn in self.turns)

    @property
    def summary(self) -> str:
        """What the chunk says, in one line."""
        return " / ".join(turn.normalized.z.summary for turn in self.turns)


def as_open(message: Localized) -> Open | None:
    """Return a turn as the state keeps it, or ``None`` where it does not fit."""
    normalized, z = message.normalized, message.normalized.z
    turn = normalized.turn
    if normalized.suspect or not _fits(normalized):
        return None
    return Open(
        position=message.header.position,
        turn=turn.turn_id,
        speaker=turn.speaker.id,
        role=turn.speaker.role,
        at=turn.at,
        branch=message.placement.branch,
        text=normalized.text,
        own=min(len(turn.text), len(normalized.text)),
        name=turn.speaker.name,
        session=turn.session,
        summary=clip(z.summary, SUMMARY_BYTES),
        path=clip(message.placement.path_summary, _PATH_BYTES),
        attitude=z.attitude,
        entities=_within(z.entities, _ENTITIES_BYTES),
        facts=_bounds(z.facts),
        attributes=_bounds(z.attributes),
        mentions=tuple(one for one in normalized.mentions if _small(one))[:_MENTIONS],
    )


def _fits(normalized: Normalized) -> bool:
    turn = normalized.turn
    ids = (turn.turn_id, turn.speaker.id, turn.session or "")
    return (
        size(normalized.text) <= TEXT_BYTES
        and all(short(name) == name for name in ids)
        and size(turn.speaker.name or "") <= _NAME_BYTES
    )


def _bounds(snippets: Sequence[Snippet]) -> tuple[Bounds, ...]:
    return tuple((one.span.start, one.span.end) for one in snippets[:_SPANS])


def _within(names: Sequence[str], room: int) -> tuple[str, ...]:
    """Return the first names that fit the room together."""
    kept: list[str] = []
    for name in names:
        room -= size(name)
        if room < 0:
            break
        kept.append(name)
    return tuple(kept)


def _small(mention: Mention) -> bool:
    return size((mention.mention, mention.refers_to, mention.source_turn_id)) <= 2 * _REFERS_BYTES
