"""A lane: the events of one space in one stage, in order, between two cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from schemas.committed import Committed
from schemas.space import Space
from stages.contract import StageState
from streams.codec import peek
from streams.effects import Cut, Inbound, Outbound
from streams.letters import Refusal, write
from streams.state import Counts, Saved, StateHeader, StateRow, save
from streams.tracing import Outcome, Period, Traced

State = TypeVar("State", bound=StageState)


@dataclass(slots=True)
class Lane(Generic[State]):
    """What a stage knows of a space, what is durable of it (``saved``), and what is not yet (``cut``)."""

    stage: str
    space: Space
    state: State
    saved: Saved
    header: StateHeader
    cut: Cut

    @classmethod
    def start(cls, stage: str, space: Space, state: State, saved: Saved) -> Lane[State]:
        """Return a lane that stands where its saved state does."""
        return cls(stage, space, state, saved, saved.header, Cut(stage, space))

    @property
    def is_clean(self) -> bool:
        """Whether all that the lane did is durable."""
        return self.header == self.saved.header

    def emit(self, record: Inbound, output: Outbound, *, lettered: bool = False) -> None:
        """Add the one output of an event, which takes its position."""
        header = output.header
        counts = self._counted("lettered" if lettered else "emitted")
        self.cut.outputs.append(output if record.trace is None else replace(output, trace=record.trace))
        self.cut.events += 1
        self.header = self.header.seen(header.position, record.offset, header.event_id, counts)

    def commit(self, record: Inbound, event: Committed, *, lettered: bool = False) -> None:
        """Add the rows of an event for memory and the index; they are written one by one, so the event has no body."""
        self.cut.committed.append(event)
        self.emit(record, Outbound(event.header, b""), lettered=lettered)

    def drop(self, record: Inbound) -> None:
        """Count a duplicate: it takes no position."""
        self.cut.events += 1
        self.header = self.header.passed(record.offset, self._counted("duplicates"))

    def refuse(self, topic: str, record: Inbound, refusal: Refusal) -> None:
        """Add a letter; one without a header takes no position."""
        self.cut.letters.append(write(self.stage, topic, self.space, record, refusal))
        if refusal.header is None:
            self.cut.events += 1
            self.header = self.header.passed(record.offset, self._counted("alone"))

    def trace(self, record: Inbound, before: StateHeader, deciding: Period) -> None:
        """Note what became of an event that bears a trace context; ``before`` was the header until it came."""
        position = self.header.position if self.header.position > before.position else None
        event_id = peek(record.body).event_id if position is None else self.cut.outputs[-1].header.event_id
        written = next((one for one in self.cut.letters[-1:] if one.offset == record.offset), None)
        if written is not None or record.marker:
            outcome = Outcome.LETTERED
        else:
            outcome = Outcome.DUPLICATE if position is None else Outcome.EMITTED
        reason = None if written is None else written.reason
        at = record.partition, record.offset
        self.cut.traced.append(Traced(record.trace or b"", *at, deciding, outcome, event_id, position, reason))

    def _counted(self, name: str) -> Counts:
        counts = self.header.counts
        return counts.model_copy(update={name: getattr(counts, name) + 1})

    def seal(self) -> tuple[Cut, Saved]:
        """Return the cut with the state rows that go with it, and the state as it will then be saved."""
        saved, rows = save(self.saved, self.header, self.state.parts())
        return self._sealed(rows, saved), saved

    def _sealed(self, rows: Sequence[StateRow], saved: Saved) -> Cut:
        self.cut.state, self.cut.header = rows, saved.header
        return self.cut

    def settle(self, saved: Saved) -> None:
        """Note that the cut is durable and begin the next."""
        self.saved, self.header, self.cut = saved, saved.header, Cut(self.stage, self.space)
