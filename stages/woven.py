"""Edges of the typed graph, apart by what laid them."""

from __future__ import annotations

from typing import NamedTuple

from schemas.memory import EdgeRow


class Woven(NamedTuple):
    """Edges that turns laid, and those of events without a turn (of consolidation): a night may be taken back."""

    of_turns: list[EdgeRow]
    of_others: list[EdgeRow]

    @property
    def every(self) -> list[EdgeRow]:
        """All of them."""
        return [*self.of_turns, *self.of_others]


NONE = Woven([], [])
"""Where there is nothing to read."""
