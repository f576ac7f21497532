"""The drafts of the last turns: what ``prepare`` drafted, ``decide`` need not draft again (a third of its time)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.normalized import Normalized
from stages.extract_per_view.drafts import Draft, Hearing, drafts, hearing
from stages.extract_per_view.state import Party

MOST: Final = 256
"""Turns kept: batches of 32, of some spaces at once."""

LONGEST: Final = 16_384
"""Characters of a turn that is kept, so that all of them are a few megabytes."""


class _Kept(NamedTuple):
    normalized: Normalized
    heard: Hearing
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Drafted:
    """Gives drafts as ``drafts`` does, those of the same message heard the same way from what is kept.

    A turn is known by being the same object, as to compare or hash one costs as much as to draft it. It can't be
    mistaken for another, since what is kept is held.
    """

    _kept: dict[int, _Kept] = field(default_factory=dict)

    def of(self, normalized: Normalized, parties: tuple[Party, ...]) -> tuple[Draft, ...]:
        """Return the drafts of a turn in the order of its text."""
        heard = hearing(normalized, parties)
        kept = self._kept.get(id(normalized))
        if kept is not None and kept.heard == heard:
            return kept.drafts
        made = drafts(normalized, heard)
        if len(normalized.text) <= LONGEST:
            self._keep(_Kept(normalized, heard, made))
        return made

    def _keep(self, kept: _Kept) -> None:
        self._kept[id(kept.normalized)] = kept
        if len(self._kept) > MOST:
            self._kept.pop(next(iter(self._kept)))
