"""The last turns of a space in the order of their places, and the windows that a new turn or a revision makes due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from stages.commit.windows import Due, WindowTurn
from stages.ring import Ring

TURNS = 32
"""Turns that can still be shown again: with the longest ids allowed they take some 50 KB."""

_CHUNK = 2
"""Turns a part: their texts make them large, and each turn writes one and a half of them on average."""

_PART = "turns"


@dataclass(frozen=True, slots=True)
class CommitState:
    """The last ``TURNS`` turns that were not lettered. A revision takes the place of the turn that it revises.

    The windows that showed the former text (of the turn, of the one before and the one after) are closed by ``route``
    at the revision; they come back at once with the new text, as records named by the revision: ordinal 0 for the turn
    itself, 1 for the one before, 2 for the one after. A turn whose two predecessors are no longer here is too old for
    that: its revision stands where it arrived, as a new turn does, and the windows of its old place stay closed (the
    turns themselves are still there to be found). ``stages.route.state.Chain`` counts the same way.
    """

    turns: Ring[WindowTurn] = field(default_factory=Ring)

    def parts(self) -> Mapping[str, bytes]:
        """Return the state as named parts."""
        return self.turns.parts(_PART, _CHUNK)

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Self:
        """Build the state that ``parts`` was cut from.

        Raises:
            ValueError: if a part is malformed.
        """
        return cls(Ring.from_parts(_PART, parts, WindowTurn))

    def placed(self, turn: WindowTurn, revises: int | None) -> tuple[Self, tuple[Due, ...]]:
        """Return the state with ``turn`` in its place, and the windows that are due with it."""
        order = self.turns.entries
        at = next((n for n, known in enumerate(order) if known.event == revises), None)
        if at is None or (len(order) == TURNS and at < 2):  # noqa: PLR2004 - its two predecessors
            return self._appended(turn, revises)
        here = turn.model_copy(update={"position": order[at].position})
        after = type(self)(self.turns.replace(here))
        around = ((at - 1, 1), (at, 0), (at + 1, 2))
        dues = (after.due(n, turn.event, ordinal) for n, ordinal in around if 0 <= n < len(order) - 1)
        return after, tuple(dues)

    def _appended(self, turn: WindowTurn, revises: int | None) -> tuple[Self, tuple[Due, ...]]:
        standing = [known for known in self.turns if known.event != revises]
        number = self.turns.entries[-1].position + 1 if len(self.turns) else 0
        new = turn.model_copy(update={"position": number})
        after = type(self)(Ring((*standing, new)[-TURNS:]))
        if not standing:
            return after, ()
        return after, (after.due(len(after.turns) - 2, standing[-1].event, 0),)

    def due(self, at: int, event: int, ordinal: int) -> Due:
        """Return the window of the turn at index ``at``, which is not the last, under a name of its own."""
        order = self.turns.entries
        return Due(order[at], order[at - 1] if at > 0 else None, order[at + 1], event, ordinal)
