"""A home's memory as a follower sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.committed import Committed
from schemas.space import Space
from streams.journal import Journal


@dataclass(frozen=True, slots=True)
class JournalRows:
    """Implements ``streams.snapshot.MemoryRows`` on a journal."""

    journal: Journal

    def reached(self) -> dict[Space, int]:
        """Return the position up to which the rows of each space are all there."""
        return {Space(space): position for space, position in self.journal.remembered().items()}

    def events(self, space: Space, above: int, up_to: int) -> Iterator[Committed]:
        """Give the rows of a space with ``above < position <= up_to``, an event at a time, in order."""
        return self.journal.by_position().events(space, above, up_to)
