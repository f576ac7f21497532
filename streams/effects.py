"""What the engine asks of a runtime: to read a stage's input, to keep state, and to perform effects in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.committed import Committed
from schemas.header import Header
from schemas.letter import Letter
from schemas.space import Space
from streams.state import StateHeader, StateRow
from streams.tracing import Period, Traced


@dataclass(frozen=True, slots=True)
class Inbound:
    """A record of a stage's input. ``header`` is ``None`` in ``turns``, where events have no number yet.

    ``offset`` counts in ``partition`` of the topic. ``marker`` says that the body is a ``Skipped``; ``own`` that the
    system itself wrote the event. ``trace`` is the publisher's trace context.
    ``refused`` says why the place where an event lies in ``turns`` makes it unbelievable.
    """

    offset: int
    body: bytes
    header: Header | None = None
    marker: bool = False
    own: bool = False
    partition: int = 0
    trace: bytes | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Outbound:
    """A record for a stage's target topic."""

    header: Header
    body: bytes
    marker: bool = False
    trace: bytes | None = None


@dataclass(slots=True)
class Cut:
    """What a lane did since its last cut, to be made durable in the order of the effects.

    When it is, its ``traced`` events are told, and when the index was ``written``.
    """

    stage: str
    space: Space
    outputs: list[Outbound] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    committed: list[Committed] = field(default_factory=list)
    state: Sequence[StateRow] = ()
    header: StateHeader = field(default_factory=StateHeader)
    events: int = 0
    traced: list[Traced] = field(default_factory=list)
    written: Period | None = None


class Effects(Protocol):
    """The four effects of a cut, in their order, each acknowledged when its call returns. Only the engine calls them.

    All raise ``Unavailable`` if what they write to does not answer; a refusal is any other exception and stops the
    lane for good.
    """

    async def outputs(self, cut: Cut) -> None:
        """Append outputs and letters; those already there are left as they are."""
        ...

    async def sink(self, cut: Cut) -> None:
        """Write the index, durably."""
        ...

    async def state(self, cut: Cut) -> None:
        """Write the state's changed parts, then its header."""
        ...

    async def offset(self, cut: Cut) -> None:
        """Record that the input up to the cut's offset is finished."""
        ...


class Source(Protocol):
    """A stage's input."""

    async def read(self, space: Space, after: int, limit: int) -> list[Inbound]:
        """Return records of the space whose offsets are above ``after``, in order: up to ``limit``, one if there is."""
        ...


class Gate(Protocol):
    """Commit's watermark, seen from the other stages."""

    def watermark(self, space: Space) -> int:
        """Return the last position of the space that is known to be committed (-1: none). It may have risen since."""
        ...

    async def look(self, space: Space) -> int:
        """Read the watermark of the space now.

        Raises:
            Unavailable: if what knows it does not answer.
        """
        ...

    async def reached(self, space: Space, position: int) -> None:
        """Wait until the watermark of the space is at least ``position``."""
        ...
