"""A memory as the gateway needs it: many requests at once, none of which may hold up another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from infra.as_of import AsOf
from infra.memory_api import TurnState
from schemas.answer import Answer, Asked
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space

PATIENCE_S: Final = 10.0
"""How long a recall waits for the turn that its token names: a turn takes a tenth of a second where nothing queues."""

LONG_S: Final = 5.0
"""When a publisher who met too long a queue may try again: the queue of one space shrinks by hundreds of turns then."""


class TooManyPending(Exception):  # noqa: N818 - named for the condition
    """A space has so many events without outcome that it takes no more for now."""

    def __init__(self, space: Space, pending: int, limit: int) -> None:
        super().__init__(
            f"{space} has {pending} events that are not in memory yet, and the limit is {limit}: publish again when "
            "some of them are; nothing of this request was taken"
        )


class TooLarge(Exception):  # noqa: N818 - named for the condition
    """The log takes no event as large as one of these; none of them was taken."""


class Served(Protocol):
    """What the routes ask for. Everything may raise ``Unavailable`` or ``MissingError`` if something is away."""

    async def publish(self, space: Space, turns: Sequence[bytes]) -> None:
        """Append turns of a space, in their order; they are safe when this returns.

        Raises:
            TooManyPending: if the space has too long a queue; none is appended then.
            TooLarge: if the log takes no turn as large as one of them; none is appended then.
        """
        ...

    async def recall(self, space: Space, question: Question, after: str | None) -> Recalled:
        """Answer a question; with ``after`` wait a while for that turn, then say how stale the answer is."""
        ...

    async def answer(self, space: Space, asked: Asked, after: str | None) -> Answer:
        """Answer a question with citations; ``after`` as for a recall."""
        ...

    async def position(self, space: Space, as_of: AsOf) -> int:
        """Return the position that ``as_of`` stands for.

        Raises:
            UsageError: if it is a turn that memory does not hold.
        """
        ...

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        """Return the bundle for a turn that is not published, of at most ``budget`` tokens."""
        ...

    async def turn(self, space: Space, turn_id: str) -> TurnState | None:
        """Return what became of a turn; ``None`` if the log does not know it."""
        ...

    async def parts(self) -> Mapping[str, str | None]:
        """Return what the gateway stands on, each with why it does not answer (``None``: it does)."""
        ...

    async def pending(self) -> int | None:
        """Return how many events have no outcome yet; ``None`` where others count that."""
        ...

    async def consolidated(self) -> Mapping[str, datetime]:
        """Return when the last run of consolidation over each tenant began that ended well."""
        ...
