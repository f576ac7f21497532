"""What a stage is: a pure function from (message, state) to an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from schemas.space import Space

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
State = TypeVar("State", bound="StageState")
State_co = TypeVar("State_co", covariant=True, bound="StageState")

WINDOW = 64
"""W: how many events of a space may be in the pipeline; stages read memory as of position - W."""


class Unavailable(Exception):  # noqa: N818 - the contract's own name: it states a condition, not a bug
    """A model, the index or the broker does not answer. The lane waits with backoff and asks again."""


class StageState(Protocol):
    """The state of one stage for one space, a frozen value that can be cut into named parts.

    Parts are what is stored: only those whose bytes changed are written again. A part name is an ASCII word; all
    parts together hold at most 64 KB, int8 vectors (parts that begin with ``vectors``) counted apart.
    """

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts; equal states give equal bytes."""
        ...

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state that ``parts`` was cut from.

        Raises:
            ValueError: if a part is malformed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Emit(Generic[Out_co, State_co]):
    """The stage's one record for this event, and the state after it."""

    message: Out_co
    state: State_co


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event is already known: it takes no position (first stage only)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reject:
    """The event cannot be processed; the state stays. It becomes a letter and a marker.

    ``input_fault`` is false where the stage, not the input, is to blame: such letters count towards the limit.
    """

    reason: str
    input_fault: bool = True


Decision = Emit[Out_co, State_co] | Duplicate | Reject
"""What a stage decides of an event."""


class Stage(Protocol[In_contra, Out_co, State]):
    """A frozen dataclass with its ports as fields. Same input, same bytes out: no clock, chance or environment.

    The stages derive from it, so that each says in its first line what it takes, gives and remembers.
    """

    __slots__ = ()

    name: ClassVar[str]

    def initial(self, space: Space) -> State:  # noqa: ARG002 - all our spaces begin alike; another stage's may not
        """Return the state of a space that has seen nothing: one without parts."""
        return self.restore({})

    def restore(self, parts: Mapping[str, bytes]) -> State:
        """Return the state that was cut into ``parts``.

        Raises:
            ValueError: if a part is malformed.
        """
        ...

    async def prepare(self, messages: Sequence[In_contra]) -> None:
        """Warm caches in bulk for messages that will be decided soon; no effect on results.

        Raises:
            Unavailable: if a port does not answer.
        """
        ...

    async def decide(self, message: In_contra, state: State) -> Decision[Out_co, State]:
        """Decide what ``message`` means. ``state`` is never changed.

        Raises:
            Unavailable: if a port does not answer; anything else that is raised is a bug.
        """
        ...
