"""A memory as the command line sees it: whatever runs the stages gives this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, astuple, dataclass, field
from operator import add, sub
from typing import Protocol, Self

from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.letter import Letter
from schemas.memory import OutcomeState, Row
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space


@dataclass(frozen=True, slots=True)
class Sums:
    """Counts of events. Always ``published = committed + lettered + duplicates + forgotten + pending``."""

    published: int = 0
    committed: int = 0
    lettered: int = 0
    duplicates: int = 0
    forgotten: int = 0
    pending: int = 0

    def __add__(self, other: Self) -> Sums:
        """Return the counts of two sets of events."""
        return Sums(*map(add, astuple(self), astuple(other)))

    def __sub__(self, before: Self) -> Sums:
        """Return what happened between two counts."""
        return Sums(*map(sub, astuple(self), astuple(before)))

    def __str__(self) -> str:
        """Return the line that ``ingest`` ends with."""
        return " ".join(f"{name}={count}" for name, count in asdict(self).items())


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: events with an outcome, of those there were at its start, and each stage's lag in events."""

    done: int
    total: int
    lags: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnState:
    """A distinct turn of a space; ``state`` is ``None`` while it is pending. Committed once one of its positions is."""

    turn_id: str
    position: int | None
    state: OutcomeState | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StageStatus:
    """How far a stage is in a space (-1: nothing yet), and the size of its state in bytes."""

    stage: str
    position: int
    lag: int
    state_bytes: int
    vector_bytes: int


@dataclass(frozen=True, slots=True)
class SpaceStatus:
    """A space: its last position (-1: none), commit's watermark, its stages, its letters and its sums."""

    space: Space
    position: int
    watermark: int
    stages: tuple[StageStatus, ...]
    letters: int
    sums: Sums


class Memory(Protocol):
    """An open memory. An embedded one is held by one process at a time; on Kafka there are as many as there are.

    What reads of a space wait for is what was in the log when they were asked: an embedded memory that was opened with
    ``wait`` has processed it then; on Kafka, where workers do that meanwhile, each read waits for it a while.
    """

    async def publish(self, space: Space, payloads: Sequence[bytes], *, own: bool = False) -> None:
        """Append events to the log of a space, durably, in order. ``own``: control events of the system itself."""
        ...

    async def run(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Process until nothing is pending; on Kafka wait until workers have, for the events published here.

        May be cancelled at any time; the next run goes on.

        Raises:
            Unavailable: if a model or the index does not answer.
        """
        ...

    def sums(self) -> Sums:
        """Return the counts of everything that the log ever took; on Kafka, of the events published by this memory."""
        ...

    async def recall(self, space: Space, question: Question, after: str | None = None) -> Recalled:
        """Answer a question with evidence. ``after`` is a causal token: wait for it, or say how stale the answer is."""
        ...

    async def answer(self, space: Space, asked: Asked, after: str | None = None) -> Answer:
        """Answer a question from what its recall finds, with citations; without a model, return the evidence."""
        ...

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle for a turn that is not published, within ``budget`` tokens."""
        ...

    def turns(self, space: Space) -> Iterator[TurnState]:
        """Give each distinct turn of a space, in the order in which their ids came into the log."""
        ...

    def rows(self, space: Space) -> Iterator[Row]:
        """Give the rows of a space's memory, ordered by row kind and key."""
        ...

    def letters(self, space: Space | None = None) -> Iterator[Letter]:
        """Give the letters of a space, or of all."""
        ...

    def inspect(self, space: Space) -> SpaceStatus:
        """Return where a space stands."""
        ...


class Opener(Protocol):
    """Opens the memory that the settings describe.

    With ``wait`` what is pending is processed first, and ``progress`` hears of it; without, nothing is processed. On
    Kafka ``wait`` says that each read waits for what is pending in its space.
    """

    def __call__(
        self, settings: Settings, *, wait: bool, progress: Callable[[Progress], None] | None
    ) -> AbstractAsyncContextManager[Memory]:
        """Take the lock, open, and give back at the end of the block.

        Raises:
            MissingError: if another process holds the home (its message names it), or the model is missing.
        """
        ...
