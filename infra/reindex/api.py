"""Reindexing as the command line sees it, in the embedded mode and on Kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from infra.errors import UsageError
from infra.memory_api import Progress

Report = Callable[[Progress], None]


class NotReady(UsageError):  # noqa: N818 - named for the condition, like `Unavailable`
    """What is to be read next does not hold what it should yet."""


def another_is_next(what: object) -> str:
    """Return what there is to say where something else is being built, or was and is not read."""
    return f"another reindex is under way: {what}; finish it by `anabranch reindex switch`, or `abandon` it"


@dataclass(frozen=True, slots=True)
class Standing:
    """An index or a generation, and what it is to the memory.

    ``role`` is ``reading``, ``next``, ``former`` or ``deciding`` (what stages read and commit writes, where that is not
    read), or ``left`` of what a killed command left; ``behind`` counts events that it lacks (``None``: not known).
    """

    role: str
    kind: str
    name: str
    generation: int
    model: str
    dimension: int
    embedder: str | None
    behind: int | None


class Reindex(Protocol):
    """What can be done. Each may be killed at any moment; the same command goes on."""

    async def vectors(self, report: Report, *, follow: bool = False) -> None:
        """Build another index of the same memory, with the embedder of the settings, until it is caught up.

        On Kafka it also goes on with one that is read already, or was read before; with ``follow`` it goes on until it
        is cancelled. In a home the process that owns it follows by itself.

        Raises:
            UsageError: if that is the one in use, or another one is being built.
            Unavailable: if the model or the index does not answer.
        """
        ...

    async def derive(self, partitions: int | None, report: Report, *, follow: bool = False) -> None:
        """Derive a new generation from the log until it is caught up; ``partitions`` are those of its topics.

        On Kafka it also goes on with the workers of one that is read already, until the settings name that one.
        """
        ...

    async def status(self) -> list[Standing]:
        """Return what there is, what is read first."""
        ...

    async def switch(self, report: Report) -> Standing:
        """Let recall read what was built, once it is caught up and its counts are those of memory.

        Raises:
            NotReady: if they are not, or nothing was built.
        """
        ...

    async def rollback(self, report: Report) -> Standing:
        """Let recall read again what it read before the last switch.

        Raises:
            UsageError: if there is nothing to go back to, or something is next.
            NotReady: on Kafka, if it is too far behind.
        """
        ...

    async def abandon(self) -> Standing:
        """Remove what was built and is not read; nothing of it stays."""
        ...
