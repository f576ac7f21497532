"""What speaks for a turn of a many-party channel answering an earlier one: binary features.

After the features of Kummerfeld et al. 2019 (A Large-Scale Corpus for Conversation Disentanglement, section 5).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Seen, Sign

_GAPS = (1, 2, 3, 4, 6, 9, 14, 20, 35, 64)
_MINUTES = (0, 1, 2, 4, 8, 15, 30, 60, 1440)
_WORDS = (1, 2, 4, 8, 15)
_OVERLAPS = (0, 4, 8, 14, 22)
_SILENT = (0, 1, 3, 8, 20, 50, 98)
_NEARLY = 4
"""From here on in ``_SILENT`` the speaker has been quiet for over twenty turns: nearly a newcomer."""

_MARKS = (
    ("GREETING", Sign.GREETING),
    ("THANKS", Sign.THANKS),
    ("ANSWER", Sign.ANSWER),
    ("COMMAND", Sign.COMMAND),
    ("LINK", Sign.LINK),
    ("CLOSING", Sign.CLOSING),
    ("ANAPHORA", Sign.ANAPHORA),
    ("OPENING", Sign.OPENING),
)
_ANY = reduce(or_, (sign for _, sign in _MARKS))
_COSINES = (50, 150, 250, 350, 450, 600)


@dataclass(frozen=True, slots=True)
class Standing:
    """How an earlier turn stands to the new one, from one pass over what came between.

    ``gap`` counts turns back (1 = the one before), ``rank`` the newer turns of the same person, ``own`` the
    speaker's turns since, ``replied`` the speaker's turns since that addressed that person, ``others`` those of
    third people who addressed them.
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
    """What the window says about the speaker: their newest turn, and whom they talk with, newest first."""

    last: Standing | None
    partners: tuple[int, ...]
    branches: frozenset[int]
    standings: tuple[Standing, ...]
    frequency: Counter[str]
    words: frozenset[str]
    since: int
    called_since: bool


def talk(turn: Incoming, window: Sequence[Seen]) -> Talk:
    """Walk the window once, newest first."""
    newer: Counter[int] = Counter()
    taken: Counter[int] = Counter()
    taken_own: Counter[int] = Counter()
    replies: Counter[int] = Counter()
    others: Counter[int] = Counter()
    partners: dict[int, None] = dict.fromkeys(turn.addressed)
    standings: list[Standing] = []
    called_since = False
    me = turn.person
    for seen in reversed(window):
        if seen.signs & Sign.SYSTEM:
            continue
        who = seen.person
        standings.append(
            Standing(
                seen,
                len(standings) + 1,
                newer[who],
                newer[me],
                replies[who],
                others[who],
                taken[seen.position],
                taken_own[seen.position],
            )
        )
        newer[who] += 1
        taken[seen.parent] += 1
        if who == me:
            taken_own[seen.parent] += 1
            replies.update(seen.addressed)
            partners.update(dict.fromkeys(seen.addressed))
        elif seen.addressed:
            others.update(seen.addressed)
            if me in seen.addressed:
                partners.setdefault(who)
                called_since = called_since or not newer[me]
    last = next((s for s in standings if s.seen.person == me), None)
    return Talk(
        last,
        tuple(partners),
        frozenset(s.seen.branch for s in standings if s.seen.person == me),
        tuple(standings),
        Counter(token for s in standings for token in s.seen.tokens),
        frozenset(turn.tokens),
        last.gap - 1 if last else 99,
        called_since,
    )


def distant(seen: Seen) -> Standing:
    """Return how a turn stands that is older than the window: far, and behind whatever the window holds."""
    return Standing(seen, gap=_GAPS[-1] + 1, rank=4, own=3, replied=0, others=0, taken=0, taken_own=0)


def features(turn: Incoming, s: Standing, view: Talk, cosine: int) -> list[str]:
    """Return the features of the pair that hold."""
    side = "s" if s.seen.person == turn.person else "o"
    whom = _whom(turn.addressed, turn.named, s.seen.person)
    back = _whom(s.seen.addressed, s.seen.named, turn.person)
    return [
        *_distance(turn, s, side),
        *_address(turn, s, side, whom, back),
        *_company(turn, s, view, side, whom),
        *_words(turn, s, view, side, cosine),
        *_manner(turn, s, side, back),
    ]


def _distance(turn: Incoming, s: Standing, side: str) -> list[str]:
    gap = bisect_left(_GAPS, s.gap)
    minutes = bisect_left(_MINUTES, (turn.at - s.seen.at) // 60)
    found = [
        f"{side}gap{gap}",
        f"{side}min{minutes}",
        f"{side}rank{min(s.rank, 4)}",
        f"{side}own{min(s.own, 3)}",
        f"{side}taken{min(s.taken, 3)}",
        f"{side}takenown{min(s.taken_own, 2)}",
    ]
    if side == "s":
        found.append(f"sgap{min(gap, 6)}min{min(minutes, 4)}")
    if s.seen.parent < 0:
        found.append(f"{side}root")
    return found


def _address(turn: Incoming, s: Standing, side: str, whom: int, back: int) -> list[str]:
    found = [f"{side}to{whom}{back}", f"{side}to{whom}rank{min(s.rank, 3)}", f"{side}back{back}own{min(s.own, 2)}"]
    if turn.addressed:
        same = s.seen.addressed == turn.addressed
        if side == "s":
            found.append(f"sameaddr{int(same)}")
        elif same:
            found.append("bothaddress")
    if s.replied:
        found.append(f"replied{min(s.replied, 2)}{side}")
    if s.others and side == "o":
        found.append(f"others{min(s.others, 2)}{whom}")
    return found


def _company(turn: Incoming, s: Standing, view: Talk, side: str, whom: int) -> list[str]:
    found: list[str] = []
    who = s.seen.person
    if who in view.partners:
        found += (f"partner{min(view.partners.index(who), 2)}", f"partner{whom}rank{min(s.rank, 2)}")
    elif side == "o":
        back = int(turn.person in s.seen.addressed)
        found.append(f"stranger{back}{int(bool(turn.addressed))}")
    if s.seen.branch in view.branches:
        mine = view.last is not None and view.last.seen.branch == s.seen.branch
        found.append(f"{side}branch{int(mine)}{min(s.own, 1)}")
    return found


def _words(turn: Incoming, s: Standing, view: Talk, side: str, cosine: int) -> list[str]:
    common = view.words.intersection(s.seen.tokens)
    shared = sum([_weight(view.frequency[token]) for token in common]) if common else 0
    return [
        f"{side}overlap{bisect_left(_OVERLAPS, shared)}",
        f"{side}cos{bisect_left(_COSINES, cosine)}",
        f"{side}words{bisect_left(_WORDS, turn.words)}",
        f"{side}pwords{bisect_left(_WORDS, s.seen.words)}",
    ]


def _manner(turn: Incoming, s: Standing, side: str, back: int) -> list[str]:
    now, then = turn.signs, s.seen.signs
    asked, near = then & Sign.QUESTION, min(bisect_left(_GAPS, s.gap), 5)
    found = [f"{side}q{now & Sign.QUESTION}{asked}"]
    if asked:
        found.append(f"{side}pqtaken{min(s.taken, 1)}gap{near}")
    if now & _ANY:
        found += [f"{side}{name}" for name, sign in _MARKS if now & sign]
        if now & Sign.ANSWER:
            found.append(f"{side}answer{asked}{min(near, 4)}")
        if now & Sign.THANKS:
            found.append(f"{side}thanks{back}")
    if then & _ANY:
        found += [f"{side}p{name}" for name, sign in _MARKS if then & sign]
        if then & Sign.COMMAND:
            found.append(f"{side}pcommand{min(near, 4)}")
    return found


def opening(turn: Incoming, view: Talk) -> list[str]:
    """Return the features that speak for a turn opening a conversation."""
    fresh = bisect_left(_SILENT, view.since)
    address = 2 if turn.addressed else 1 if turn.named else 0
    return [
        "new",
        f"new since{fresh}",
        f"new address{address}",
        f"new q{turn.signs & Sign.QUESTION}since{min(fresh, 5)}",
        f"new called{int(view.called_since)}",
        f"new words{bisect_left(_WORDS, turn.words)}",
        f"new partners{min(len(view.partners), 3)}",
        *(f"new {name}{address}{int(fresh > _NEARLY)}" for name, sign in _MARKS if turn.signs & sign),
    ]


def _whom(addressed: tuple[int, ...], named: tuple[int, ...], person: int) -> int:
    """3 = addresses the person, 2 = names them, 1 = addresses somebody else, 0 = nobody."""
    if person in addressed:
        return 3
    if person in named:
        return 2
    return 1 if addressed else 0


def _weight(frequency: int) -> int:
    """Return an integer inverse document frequency: 6 for a word of one turn, 0 for one of all."""
    return max(0, 7 - frequency.bit_length())
