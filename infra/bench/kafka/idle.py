"""Stages that do nothing, with the real messages, ids and state: what is left is the runtime's own cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.base import Model
from schemas.committed import Committed
from schemas.control import Control, Passed
from schemas.extracted import Extracted
from schemas.header import Skipped
from schemas.localized import Localized, Placement, Rule
from schemas.memory import OutcomeRow, OutcomeState
from schemas.normalized import Attitude, Normalized, Piece, Understanding
from schemas.numbered import Numbered
from schemas.routed import Routed
from schemas.span import Span
from stages.contract import Emit
from streams.topology import Topology, build


class Count(Model):
    """How many events a stage has seen in a space: the smallest ``StageState``."""

    events: int = 0

    def parts(self) -> Mapping[str, bytes]:
        """Return the one part."""
        return {"count": self.model_dump_json().encode()}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Count:
        """Return a saved count."""
        return cls.model_validate_json(parts["count"])

    def more(self) -> Count:
        """Return the count after one more event."""
        return Count(events=self.events + 1)


@dataclass(frozen=True)
class _Idle:
    def initial(self, space: str) -> Count:  # noqa: ARG002 - the contract's signature
        """Return the count of a new space."""
        return Count()

    def restore(self, parts: Mapping[str, bytes]) -> Count:
        """Return a saved count."""
        return Count.model_validate_json(parts["count"])

    async def prepare(self, messages: Sequence[object]) -> None:
        """Nothing to prepare."""


@dataclass(frozen=True)
class IdleNormalize(_Idle):
    """Takes every turn as it is."""

    name: ClassVar[str] = "normalize"

    async def decide(self, message: Numbered, state: Count) -> Emit[Normalized | Passed, Count]:
        """Pass the turn on."""
        event = message.event
        if isinstance(event, Control):
            return Emit(Passed(header=message.header, control=event), state.more())
        piece = Piece(span=Span(start=0, end=len(event.text)), text=event.text, vector=b"")
        z = Understanding(summary="", topic="", attitude=Attitude.NONE)
        out = Normalized(header=message.header, turn=event, text=event.text, pieces=(piece,), z=z)
        return Emit(out, state.more())


@dataclass(frozen=True)
class IdleLocalize(_Idle):
    """Makes every turn a root."""

    name: ClassVar[str] = "localize_state"

    async def decide(self, message: Normalized | Passed, state: Count) -> Emit[Localized | Passed, Count]:
        """Pass the turn on."""
        if isinstance(message, Passed):
            return Emit(message, state.more())
        position = message.header.position
        placement = Placement(rule=Rule.NEW_ROOT, branch=position, interaction=position)
        return Emit(Localized(header=message.header, normalized=message, placement=placement), state.more())


@dataclass(frozen=True)
class IdleExtract(_Idle):
    """Takes nothing out."""

    name: ClassVar[str] = "extract_per_view"

    async def decide(self, message: Localized | Passed, state: Count) -> Emit[Extracted | Passed, Count]:
        """Pass the turn on."""
        if isinstance(message, Passed):
            return Emit(message, state.more())
        return Emit(Extracted(header=message.header, localized=message), state.more())


@dataclass(frozen=True)
class IdleRoute(_Idle):
    """Decides on no rows."""

    name: ClassVar[str] = "route"

    async def decide(self, message: Extracted | Passed, state: Count) -> Emit[Routed, Count]:
        """Pass the turn on."""
        return Emit(Routed(header=message.header, source=message), state.more())


@dataclass(frozen=True)
class IdleCommit(_Idle):
    """Writes the outcome alone."""

    name: ClassVar[str] = "commit"

    async def decide(self, message: Routed | Skipped, state: Count) -> Emit[Committed, Count]:
        """Return the outcome row."""
        header = message.header
        ended = OutcomeState.LETTERED if isinstance(message, Skipped) else OutcomeState.COMMITTED
        row = OutcomeRow(space=header.space, position=header.position, event_id=header.event_id, state=ended)
        return Emit(Committed(header=header, rows=(row,)), state.more())


def idle_topology() -> Topology:
    """Return the flow with stages that do nothing."""
    return build(IdleNormalize(), IdleLocalize(), IdleExtract(), IdleRoute(), IdleCommit())
