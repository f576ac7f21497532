"""commit: completes what route decided, and orders it so that when a turn is there, all of it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from schemas.committed import Committed
from schemas.control import Passed
from schemas.extracted import Extracted
from schemas.header import Header, Skipped
from schemas.memory import OutcomeRow, OutcomeState, RecordKind, RecordRow
from schemas.routed import RecordVector, Routed, RoutedRow
from schemas.space import Space
from stages.commit.state import CommitState
from stages.commit.windows import Window, window_record, window_turn
from stages.contract import Decision, Emit, Reject, Stage
from stages.ports import Embedder
from stages.text.spoken import has_vector, searched


@dataclass(frozen=True, slots=True)
class Commit(Stage[Routed | Skipped, Committed, CommitState]):
    """Turns routed rows into complete ones: the windows due with it, and the outcome of this event."""

    embedder: Embedder
    name: ClassVar[str] = "commit"

    def restore(self, parts: Mapping[str, bytes]) -> CommitState:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        return CommitState.from_parts(parts)

    async def prepare(self, messages: Sequence[Routed | Skipped]) -> None:
        """Embed the windows that these messages will complete among themselves."""
        states, texts = dict[Space, CommitState](), list[str]()
        for message in messages:
            if isinstance(message, Skipped) or not isinstance(message.source, Extracted):
                continue
            space = message.header.space
            states[space], due = _due(message.source, states.get(space, CommitState()))
            texts += [one.text for one in due if one.before is not None]  # else what stands before it is not known here
        await self.embedder.embed(texts)

    async def decide(self, message: Routed | Skipped, state: CommitState) -> Decision[Committed, CommitState]:
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
        after, due = (state, ()) if isinstance(message.source, Passed) else _due(message.source, state)
        windows = [window_record(message.header.space, one, message.header.position) for one in due]
        bare = [*_bare(message), *windows]
        vectors = await self.embedder.embed([searched(row) for row in bare]) if bare else []
        return Emit(_committed(message, windows, dict(zip((row.id for row in bare), vectors, strict=True))), after)

    def _fault(self, message: Routed) -> str | None:
        """Say what is wrong with the rows, before any of them is written."""
        records = [row.id for row in message.rows if row.row == "record"]
        ids, space = set(records), message.header.space
        if len(ids) != len(records):
            return "two records share an id"
        if any(row.space != space for row in message.rows):
            return "a row names another space"
        if any(vector.record_id not in ids for vector in message.vectors):
            return "a vector belongs to no record"
        if any(len(vector.vector) != self.embedder.dimension for vector in message.vectors):
            return f"a vector has not the {self.embedder.dimension} dimensions of {self.embedder.model}"
        return None


def _due(source: Extracted, state: CommitState) -> tuple[CommitState, tuple[Window, ...]]:
    """Return the state after a turn and the windows that are due with it."""
    return state.placed(window_turn(source), source.localized.normalized.revises)


def _bare(message: Routed) -> list[RecordRow]:
    """Return the records that came without their vector: those that a revision brought back from memory."""
    given = {one.record_id for one in message.vectors}
    made = (row for row in message.rows if row.row == "record" and row.run is not None)
    return [row for row in made if has_vector(row) and row.id not in given]


def _committed(message: Routed, made: Sequence[RecordRow], vectors: Mapping[str, bytes]) -> Committed:
    rows: list[RoutedRow] = [*message.rows, *made]
    rows.sort(key=lambda row: row.row == "record" and row.kind is RecordKind.TURN)  # stable: turns come last
    extra = [RecordVector(record_id=name, vector=vector) for name, vector in vectors.items()]
    outcome = _outcome(message.header, OutcomeState.COMMITTED)
    # not looked at again, which takes a tenth of the stage: all of it are checked models
    return Committed.model_construct(
        header=message.header,
        rows=(*rows, outcome),
        vectors=(*message.vectors, *extra),
        refused=_refused(message),
        stale=message.stale,
    )


def _refused(message: Routed) -> int:
    """Return how much of what models said of an event was dropped, in all stages."""
    if not isinstance(message.source, Extracted):
        return message.refused + (message.source.read.refused if message.source.read is not None else 0)
    return message.refused + message.source.refused + message.source.localized.normalized.unquoted


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
