"""What is told of events whose publishers trace them: the port through which it goes, and what goes through it.

The context in the topics stays the publisher's in every stage. An output that is made again must be the same byte for
byte, headers included, and a span has a new id each time. So what the stages tell are children of the publisher's
span, one beside the other, and no chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from schemas.space import Space

Period = tuple[int, int]
"""When something began and ended, in nanoseconds since 1970."""


class Outcome(StrEnum):
    """What a stage made of an event: an output, a letter (its own, or an earlier stage's passed on), or nothing."""

    EMITTED = "emitted"
    LETTERED = "lettered"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Traced:
    """An event with a trace context that a stage has handled.

    ``trace`` is the publisher's context as the record bears it; ``deciding`` lasts from when the stage turned to the
    event until its outcome stood, waits included; ``reason`` is that of a letter which this stage wrote.
    """

    trace: bytes
    partition: int
    offset: int
    deciding: Period
    outcome: Outcome
    event_id: str | None
    position: int | None
    reason: str | None = None


class Tracing(Protocol):
    """Hears what became of events with a trace context; what it does with that has no effect on the stage."""

    @property
    def on(self) -> bool:
        """Whether anybody listens. If not, nothing is noted."""
        ...

    def now(self) -> int:
        """Return the time in nanoseconds since 1970."""
        ...

    def tell(self, stage: str, space: Space, events: Sequence[Traced], written: Period | None) -> None:
        """Take the events of a cut, which has just become durable; ``written`` is when its index write was, if any.

        So events that are handled again after a death are told once, and what never became durable is not told.
        """
        ...


@dataclass(frozen=True, slots=True)
class NoTracing:
    """Nobody listens."""

    on: bool = False

    def now(self) -> int:
        """Return no time at all."""
        return 0

    def tell(self, stage: str, space: Space, events: Sequence[Traced], written: Period | None) -> None:
        """Drop what is told."""
