"""Which windows a turn or a revision makes due, and which of the last turns can be shown again.

``commit`` writes the windows and ``route`` closes those of a revised text, so this is the one rule of both.

A window shows a turn between its neighbours, so it is due when the next turn comes. A revision takes the place of the
turn that it revises; the windows that showed the former text (of the turn, of the one before and the one after) are
closed by ``route`` at the revision, and come back at once with the new text. A turn whose two predecessors are no
longer kept is too old for that: its revision stands where it arrived, as a new turn does, and the windows of its old
place stay closed (the turns themselves are still there to be found).

Both count in turns, and in bytes of what clients chose, which may be 256 characters of any script for each id and name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.header import RecordRole, record_id
from schemas.space import Space
from schemas.turn import Turn
from stages.stored import size

TURNS = 32
"""Turns at most; with ids and names of 256 ASCII characters all of them fit."""

_BYTES = 38_000
"""Bytes of ids, names and sessions together: the texts of the turns take some 22 KB beside them."""

_PREDECESSORS = 2
"""Turns before a revised one that its windows need: the window of the one before shows the one before that."""


class Due(NamedTuple):
    """A window that is due: the index of its turn in the order, which is never the last, and what names its record.

    ``event`` and ``ordinal`` name it: a new turn completes the window of the one before (that one's event, 0); a
    revision brings three of its own, 0 for the turn itself, 1 for the one before, 2 for the one after.
    """

    at: int
    event: int
    ordinal: int


class Placed(NamedTuple):
    """The order after a turn, the index that a revision took in it (``None``: it is the last), and what is due."""

    order: tuple[int, ...]
    at: int | None
    due: tuple[Due, ...]


def placed(order: Sequence[int], event: int, revises: int | None, *, lost: bool) -> Placed:
    """Return where the turn of ``event`` stands among the last turns, and the windows that are due with it.

    Turns are named by the positions of the events that brought their texts; ``revises`` is that of the former text.
    ``lost`` says that there were turns before these. What no longer lasts is still in the order: it may be shown now.
    """
    at = order.index(revises) if revises in order else None
    if at is None or (lost and at < _PREDECESSORS):
        standing = [known for known in order if known != revises]
        made = (Due(len(standing) - 1, standing[-1], 0),) if standing else ()
        return Placed((*standing, event), None, made)
    around = ((at - 1, 1), (at, 0), (at + 1, 2))
    due = tuple(Due(place, event, ordinal) for place, ordinal in around if 0 <= place < len(order) - 1)
    return Placed((*order[:at], event, *order[at + 1 :]), at, due)


def window_id(space: Space, event: int, ordinal: int) -> str:
    """Return the id of the window record that ``event`` and ``ordinal`` name."""
    return record_id(space, event, RecordRole.WINDOW, ordinal)


def weight(turn: Turn) -> int:
    """Return the bytes of a turn's id, speaker and session as they are stored."""
    return size((turn.turn_id, turn.speaker.id, turn.speaker.name or "", turn.session or ""))


def lasting(weights: Sequence[int]) -> int:
    """Return how many of the newest turns stay, given their weights in order."""
    total = 0
    for count, one in enumerate(reversed(weights[-TURNS:])):
        total += one
        if total > _BYTES:
            return count
    return min(len(weights), TURNS)
