"""The windows that ``commit`` writes with a turn: route closes those that show a revised text, so it counts along."""

from __future__ import annotations

from stages.packed import Packed
from stages.shown import lasting, placed


class Shown(Packed):
    """A window that an event wrote: (``event``, ``ordinal``) name it, ``turns`` are the positions that it shows."""

    event: int
    ordinal: int
    turns: tuple[int, ...]


class Chain(Packed):
    """The last turns in the order of their places, as positions of the events that brought them.

    ``weights`` are their ``stages.shown.weight``; ``lost`` says that there were turns before them. ``commit`` keeps the
    same turns with their texts.
    """

    turns: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()
    lost: bool = False

    def placed(self, position: int, weight: int, revises: int | None) -> tuple[Chain, tuple[Shown, ...]]:
        """Return the chain with the turn of ``position`` in its place, and the windows that are written with it."""
        order, _, due = placed(self.turns, position, revises, lost=self.lost)
        shown = (
            Shown(event=one.event, ordinal=one.ordinal, turns=order[max(0, one.at - 1) : one.at + 2]) for one in due
        )
        known = {**dict(zip(self.turns, self.weights, strict=True)), position: weight}
        weights = tuple(known[turn] for turn in order)
        gone = len(order) - lasting(weights)
        return Chain(turns=order[gone:], weights=weights[gone:], lost=self.lost or gone > 0), tuple(shown)
