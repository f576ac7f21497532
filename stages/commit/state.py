"""The last turns of a space in the order of their places, with what their windows show of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from stages.commit.windows import Window, WindowTurn
from stages.ring import Ring
from stages.shown import Due, lasting, placed

_CHUNK = 1
"""Turns a part: their texts make them large, and the oldest one leaves with every turn."""

_PART = "turns"


@dataclass(frozen=True, slots=True)
class CommitState:
    """The last turns that were not lettered, as many as ``stages.shown`` lets last.

    A revision takes the place of the turn that it revises, by the rule of that module.
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

    def placed(self, turn: WindowTurn, revises: int | None) -> tuple[Self, tuple[Window, ...]]:
        """Return the state with ``turn`` in its place, and the windows that are due with it."""
        entries = self.turns.entries
        lost = bool(entries) and entries[-1].position >= len(entries)
        known = {one.event: one for one in entries}
        order, at, due = placed(tuple(known), turn.event, revises, lost=lost)
        known[turn.event] = turn.model_copy(update={"position": self._number(at)})
        turns = tuple(known[event] for event in order)
        gone = len(turns) - lasting([one.weight for one in turns])
        kept = replace(self.turns, entries=turns[gone:])
        return type(self)(kept), tuple(_window(turns, one) for one in due)

    def _number(self, at: int | None) -> int:
        """Return the number of a turn in the space: that of the turn whose place it takes, else the next one."""
        if at is not None:
            return self.turns.entries[at].position
        return self.turns.entries[-1].position + 1 if len(self.turns) else 0


def _window(turns: tuple[WindowTurn, ...], due: Due) -> Window:
    before = turns[due.at - 1] if due.at > 0 else None
    return Window(turns[due.at], before, turns[due.at + 1], due.event, due.ordinal)
