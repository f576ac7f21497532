"""The windows that ``commit`` writes with a turn: route closes those that show a revised text, so it counts along."""

from __future__ import annotations

from collections.abc import Sequence

from stages.packed import Packed

CHAIN = 32
"""Turns whose windows can come back after a revision; ``stages.commit.state.TURNS`` is the same number."""


class Shown(Packed):
    """A window that an event wrote: (``event``, ``ordinal``) name it, ``turns`` are the positions that it shows."""

    event: int
    ordinal: int
    turns: tuple[int, ...]


class Chain(Packed):
    """The last turns in the order of their places, as ``commit`` counts them (its state says which windows it writes).

    ``turns`` are the positions of the events that brought them.
    """

    turns: tuple[int, ...] = ()

    def placed(self, position: int, revises: int | None) -> tuple[Chain, tuple[Shown, ...]]:
        """Return the chain with the turn of ``position`` in its place, and the windows that are written with it."""
        order = list(self.turns)
        at = order.index(revises) if revises in order else None
        if at is None or (len(order) == CHAIN and at < 2):  # noqa: PLR2004 - its two predecessors
            return self._appended(position, revises)
        order[at] = position
        around = ((at - 1, 1), (at, 0), (at + 1, 2))
        shown = (_shown(order, n, position, ordinal) for n, ordinal in around if 0 <= n < len(order) - 1)
        return Chain(turns=tuple(order)), tuple(shown)

    def _appended(self, position: int, revises: int | None) -> tuple[Chain, tuple[Shown, ...]]:
        standing = [turn for turn in self.turns if turn != revises]
        order = [*standing, position][-CHAIN:]
        made = (_shown(order, len(order) - 2, standing[-1], 0),) if standing else ()
        return Chain(turns=tuple(order)), made


def _shown(order: Sequence[int], at: int, event: int, ordinal: int) -> Shown:
    return Shown(event=event, ordinal=ordinal, turns=tuple(order[max(0, at - 1) : at + 2]))
