"""commit: completes what route decided, and orders it so that when a turn is there, all of it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.base import Model
from schemas.committed import Committed
from schemas.extracted import Extracted
from schemas.header import Header, Skipped
from schemas.memory import OutcomeRow, OutcomeState, RecordKind, RecordRow
from schemas.routed import RecordVector, Routed, RoutedRow
from schemas.space import Space
from stages.commit.windows import WindowTurn, window, window_turn
from stages.contract import Duplicate, Emit, Reject
from stages.ports import Embedder

_PART = "turns"


class CommitState(Model):
    """The last two turns of a space that were not lettered: the next window's anchor and what stood before it."""

    before: WindowTurn | None = None
    last: WindowTurn | None = None

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as its one part."""
        return {_PART: self.model_dump_json().encode()}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> CommitState:
        """Build the state from its part."""
        return cls.model_validate_json(parts[_PART])

    def after(self, turn: WindowTurn, revises: int | None) -> CommitState:
        """Return the state after ``turn``; a revision takes the place of the turn that it revises."""
        if self.last is not None and self.last.position == revises:
            return CommitState(before=self.before, last=turn)
        return CommitState(before=self.last, last=turn)


@dataclass(frozen=True, slots=True)
class Commit:
    """Turns routed rows into complete ones: the window of the previous turn, and the outcome of this event."""

    embedder: Embedder
    name: ClassVar[str] = "commit"

    def initial(self, space: Space) -> CommitState:  # noqa: ARG002 - the contract names the space
        """Return the state of a space without turns."""
        return CommitState()

    def restore(self, parts: Mapping[str, bytes]) -> CommitState:
        """Return the state that was cut into ``parts``."""
        return CommitState.from_parts(parts)

    async def prepare(self, messages: Sequence[Routed | Skipped]) -> None:
        """Embed the windows that these messages will complete among themselves."""
        state, texts = CommitState(), list[str]()
        for message in messages:
            if isinstance(message, Skipped) or not isinstance(message.source, Extracted):
                continue
            turn, revises = window_turn(message.source), message.source.localized.normalized.revises
            made = _window(message.header.space, turn, state, revises)
            if made is not None and state.before is not None:  # else what stands before it is not known here
                texts.append(made.text)
            state = state.after(turn, revises)
        await self.embedder.embed(texts)

    async def decide(
        self, message: Routed | Skipped, state: CommitState
    ) -> Emit[Committed, CommitState] | Duplicate | Reject:
        """Complete and check the rows of one event; a marker becomes the outcome of its position.

        Raises:
            Unavailable: if the embedder does not answer.
        """
        if isinstance(message, Skipped):
            return Emit(_lettered(message), state)
        fault = self._fault(message)
        if fault is not None:
            where = f"{message.header.event_id!r} (position {message.header.position} of {message.header.space!r})"
            return Reject(f"route's rows for {where} do not hold together: {fault}", input_fault=False)
        return await self._completed(message, state)

    async def _completed(self, message: Routed, state: CommitState) -> Emit[Committed, CommitState]:
        if not isinstance(message.source, Extracted):
            return Emit(_committed(message, None, ()), state)
        turn, revises = window_turn(message.source), message.source.localized.normalized.revises
        made = _window(message.header.space, turn, state, revises)
        vectors = await self.embedder.embed([made.text]) if made is not None else []
        return Emit(_committed(message, made, vectors), state.after(turn, revises))

    def _fault(self, message: Routed) -> str | None:
        """Say what is wrong with the rows, before any of them is written."""
        records = [row for row in message.rows if isinstance(row, RecordRow)]
        ids = {row.id for row in records}
        if len(ids) != len(records):
            return "two records share an id"
        if any(row.space != message.header.space for row in message.rows):
            return "a row names another space"
        if any(vector.record_id not in ids for vector in message.vectors):
            return "a vector belongs to no record"
        if any(len(vector.vector) != self.embedder.dimension for vector in message.vectors):
            return f"a vector has not the {self.embedder.dimension} dimensions of {self.embedder.model}"
        return None


def _window(space: Space, turn: WindowTurn, state: CommitState, revises: int | None) -> RecordRow | None:
    """Return the window of the last turn, now that the next is here; one that ``turn`` revises is shown no more."""
    if state.last is None or state.last.position == revises:
        return None
    before = None if state.before is not None and state.before.position == revises else state.before
    return window(space, state.last, before, turn)


def _committed(message: Routed, made: RecordRow | None, vectors: Sequence[bytes]) -> Committed:
    rows: list[RoutedRow] = [*message.rows]
    if made is not None:
        rows.append(made)
    rows.sort(key=lambda row: isinstance(row, RecordRow) and row.kind is RecordKind.TURN)  # stable: turns come last
    extra = [RecordVector(record_id=made.id, vector=vector) for vector in vectors] if made is not None else []
    outcome = _outcome(message.header, OutcomeState.COMMITTED)
    return Committed(header=message.header, rows=(*rows, outcome), vectors=(*message.vectors, *extra))


def _lettered(marker: Skipped) -> Committed:
    outcome = _outcome(marker.header, OutcomeState.LETTERED, marker.stage, marker.reason)
    return Committed(header=marker.header, rows=(outcome,))


def _outcome(header: Header, state: OutcomeState, stage: str | None = None, reason: str | None = None) -> OutcomeRow:
    return OutcomeRow(
        space=header.space,
        position=header.position,
        event_id=header.event_id,
        state=state,
        stage=stage,
        reason=reason,
    )
