"""How the turns of a channel's window stand to a new one, from one walk over them, newest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Seen, Sign

_SILENT = 99
"""Turns since the speaker's last where the window has none of theirs: more than any window holds."""


class Standing(NamedTuple):
    """How an earlier turn stands to the new one, from what came between. A tuple, since a turn makes some seventy.

    ``gap`` counts turns back (1 = the one before), ``rank`` the newer turns of the same person, ``own`` the
    speaker's turns since, ``replied`` the speaker's turns since that addressed that person, ``others`` those of
    third people who addressed them; ``taken`` counts the turns since that were put under it, ``taken_own`` the
    speaker's among these.
    """

    seen: Seen
    gap: int
    rank: int
    own: int
    replied: int
    others: int
    taken: int
    taken_own: int


@dataclass(frozen=True, slots=True)
class Talk:
    """What the window says about the speaker of the new turn.

    ``last`` is their newest turn, ``since`` the number of turns after it; ``partners`` are those they talk with, newest
    first, ``branches`` those they spoke in. ``called_since``: somebody addressed them after it. ``words`` are those of
    the new turn, ``frequency`` says in how many turns of the window a word stands.
    """

    last: Standing | None
    partners: tuple[int, ...]
    branches: frozenset[int]
    standings: tuple[Standing, ...]
    frequency: Counter[str]
    words: frozenset[str]
    since: int
    called_since: bool


def talk_of(turn: Incoming, window: Sequence[Seen]) -> Talk:
    """Walk the window once, newest first; notices of the channel itself are passed over."""
    walk = _Walk(turn.person, dict.fromkeys(turn.addressed))
    for seen in reversed(window):
        if not seen.signs & Sign.SYSTEM:
            walk.meet(seen)
    own = [one for one in walk.standings if one.seen.person == turn.person]
    return Talk(
        last=own[0] if own else None,
        partners=tuple(walk.partners),
        branches=frozenset(one.seen.branch for one in own),
        standings=tuple(walk.standings),
        frequency=Counter(chain.from_iterable([one.seen.tokens for one in walk.standings])),
        words=frozenset(turn.tokens),
        since=own[0].gap - 1 if own else _SILENT,
        called_since=walk.called_since,
    )


def _none() -> defaultdict[int, int]:
    """Return counts of nothing. Not a ``Counter``: that takes ten times as long where nothing was counted."""
    return defaultdict(int)


@dataclass(slots=True)
class _Walk:
    """What was met so far: all of it is newer than what is met next. People are keys, ``taken`` is by position."""

    speaker: int
    partners: dict[int, None]
    standings: list[Standing] = field(default_factory=list)
    turns_of: defaultdict[int, int] = field(default_factory=_none)
    taken: defaultdict[int, int] = field(default_factory=_none)
    taken_own: defaultdict[int, int] = field(default_factory=_none)
    replied: defaultdict[int, int] = field(default_factory=_none)
    others: defaultdict[int, int] = field(default_factory=_none)
    called_since: bool = False

    def meet(self, seen: Seen) -> None:
        self.standings.append(self._standing(seen))
        self.turns_of[seen.person] += 1
        self.taken[seen.parent] += 1
        if seen.person == self.speaker:
            self.taken_own[seen.parent] += 1
            for whom in seen.addressed:
                self.replied[whom] += 1
                self.partners[whom] = None
        elif seen.addressed:
            self._addressing(seen)

    def _standing(self, seen: Seen) -> Standing:
        return Standing(
            seen,
            gap=len(self.standings) + 1,
            rank=self.turns_of[seen.person],
            own=self.turns_of[self.speaker],
            replied=self.replied[seen.person],
            others=self.others[seen.person],
            taken=self.taken[seen.position],
            taken_own=self.taken_own[seen.position],
        )

    def _addressing(self, seen: Seen) -> None:
        for whom in seen.addressed:
            self.others[whom] += 1
        if self.speaker in seen.addressed:
            self.partners.setdefault(seen.person)
            self.called_since = self.called_since or not self.turns_of[self.speaker]
