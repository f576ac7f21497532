"""What the state keeps of records that consolidation made, until memory shows them: who they are, on what they rest.

A run may decide thousands of times in a row, so all of it has one bound: what it has no room for is refused as stale.
"""

from __future__ import annotations

from typing import Final

from stages.packed import Packed
from stages.ring import PlacedModel
from stages.route.row import KeptItem
from stages.stored import hashed, short

ROOM: Final = 14 * 1024
"""Bytes of all of it as it is stored: beside a state at its worst (49 KB, revisions of long turns) there are 15 KB."""

FULL: Final = ROOM // 4
"""Below that many bytes items are kept with what they are compared by; above, it is left to memory."""

OTHER_KIND: Final = -1
"""The ``flags`` of a row of what is no item."""

_TURN: Final = 3
"""Characters that stand for a turn (18 bits): whoever is taken for another only sees a merge taken back."""


class Made(Packed):
    """A record made by consolidation, or brought back by a revision: ``row`` is how an item of it is compared.

    ``turns`` stands for the turns that it rests on, ``stood`` are references of what it stands for
    (``stages.route.ids.reference``), ``said`` is the position of the first turn, ``at`` its time in Unix
    seconds where the row is full.
    """

    row: KeptItem
    turns: str = ""
    stood: tuple[int, ...] = ()
    said: int = 0
    at: int = 0

    @property
    def is_item(self) -> bool:
        """Whether it is an item, which later ones may change."""
        return self.row.flags != OTHER_KIND

    def rests_on(self, turn: str) -> bool:
        """Tell whether it rests on a turn, given as ``turn_mark``."""
        return any(self.turns.startswith(turn, at) for at in range(0, len(self.turns), _TURN))


class MadeEvent(PlacedModel, Packed):
    """What an event made, and references of what it retired; older ones memory itself shows."""

    records: tuple[Made, ...] = ()
    gone: tuple[int, ...] = ()


def turn_mark(turn_id: str) -> str:
    """Return what stands for a turn in ``Made.turns``."""
    return hashed(short(turn_id), 3)[:_TURN]


def cost(value: Packed | int) -> int:
    """Return the bytes that a record or a reference takes as it is stored, with its comma."""
    return len(str(value) if isinstance(value, int) else value.model_dump_json().encode()) + 1
