"""What speaks for a turn of a many-party channel answering an earlier one: binary features.

After the features of Kummerfeld et al. 2019 (A Large-Scale Corpus for Conversation Disentanglement, section 5).
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache, reduce
from operator import or_

from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Seen, Sign
from stages.localize_state.standings import Standing, Talk

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
_MOST = 4096
"""Names of features that are kept, by the few values they have: to spell them again for every pair took a fifth of the
stage in a channel."""

_COSINES = (50, 150, 250, 350, 450, 600)
"""Bounds in thousandths for all-MiniLM-L6-v2, as the weights are: another encoder needs both of its own."""


def distant(seen: Seen) -> Standing:
    """Return how a turn stands that is older than the window: far, and behind whatever the window holds.

    Counts are the highest that the features tell apart.
    """
    return Standing(seen, gap=_GAPS[-1] + 1, rank=4, own=3, replied=0, others=0, taken=0, taken_own=0)


def features(turn: Incoming, s: Standing, talk: Talk, cosine: int) -> list[str]:
    """Return the features of the pair that hold."""
    side = "s" if s.seen.person == turn.person else "o"
    whom = _whom(turn.addressed, turn.named, s.seen.person)
    back = _whom(s.seen.addressed, s.seen.named, turn.person)
    return [
        *_distance(turn, s, side),
        *_address(turn, s, side, whom, back),
        *_company(turn, s, talk, side, whom),
        *_words(turn, s, talk, side, cosine),
        *_manner(turn, s, side, back),
    ]


def _distance(turn: Incoming, s: Standing, side: str) -> list[str]:
    found = [
        *_farness(side, bisect_left(_GAPS, s.gap), bisect_left(_MINUTES, (turn.at - s.seen.at) // 60)),
        *_counts(side, (min(s.rank, 4), min(s.own, 3), min(s.taken, 3), min(s.taken_own, 2))),
    ]
    if s.seen.parent < 0:
        found.append(f"{side}root")
    return found


@lru_cache(maxsize=_MOST)
def _farness(side: str, gap: int, minutes: int) -> tuple[str, ...]:
    both = (f"sgap{min(gap, 6)}min{min(minutes, 4)}",) if side == "s" else ()
    return (f"{side}gap{gap}", f"{side}min{minutes}", *both)


@lru_cache(maxsize=_MOST)
def _counts(side: str, counts: tuple[int, int, int, int]) -> tuple[str, ...]:
    return tuple(
        f"{side}{name}{count}" for name, count in zip(("rank", "own", "taken", "takenown"), counts, strict=True)
    )


def _address(turn: Incoming, s: Standing, side: str, whom: int, back: int) -> list[str]:
    found = [*_talking(side, whom, back, min(s.rank, 3), min(s.own, 2))]
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


@lru_cache(maxsize=_MOST)
def _talking(side: str, whom: int, back: int, rank: int, own: int) -> tuple[str, ...]:
    return (f"{side}to{whom}{back}", f"{side}to{whom}rank{rank}", f"{side}back{back}own{own}")


def _company(turn: Incoming, s: Standing, talk: Talk, side: str, whom: int) -> list[str]:
    found: list[str] = []
    who = s.seen.person
    if who in talk.partners:
        found += (f"partner{min(talk.partners.index(who), 2)}", f"partner{whom}rank{min(s.rank, 2)}")
    elif side == "o":
        back = int(turn.person in s.seen.addressed)
        found.append(f"stranger{back}{int(bool(turn.addressed))}")
    if s.seen.branch in talk.branches:
        mine = talk.last is not None and talk.last.seen.branch == s.seen.branch
        found.append(f"{side}branch{int(mine)}{min(s.own, 1)}")
    return found


def _words(turn: Incoming, s: Standing, talk: Talk, side: str, cosine: int) -> tuple[str, ...]:
    common = talk.words.intersection(s.seen.tokens)
    shared = sum([_weight(talk.frequency[token]) for token in common]) if common else 0
    likeness = bisect_left(_OVERLAPS, shared), bisect_left(_COSINES, cosine)
    return _wording(side, *likeness, bisect_left(_WORDS, turn.words), bisect_left(_WORDS, s.seen.words))


@lru_cache(maxsize=_MOST)
def _wording(side: str, overlap: int, cosine: int, now: int, then: int) -> tuple[str, ...]:
    return (f"{side}overlap{overlap}", f"{side}cos{cosine}", f"{side}words{now}", f"{side}pwords{then}")


def _manner(turn: Incoming, s: Standing, side: str, back: int) -> list[str]:
    now, then = turn.signs, s.seen.signs
    asked, near = then & Sign.QUESTION, min(bisect_left(_GAPS, s.gap), 5)
    found = [f"{side}q{now & Sign.QUESTION}{asked}"]
    if asked:
        found.append(f"{side}pqtaken{min(s.taken, 1)}gap{near}")
    if now & _ANY:
        found += _marks(side, now & _ANY)
        if now & Sign.ANSWER:
            found.append(f"{side}answer{asked}{min(near, 4)}")
        if now & Sign.THANKS:
            found.append(f"{side}thanks{back}")
    if then & _ANY:
        found += _marks(side + "p", then & _ANY)
        if then & Sign.COMMAND:
            found.append(f"{side}pcommand{min(near, 4)}")
    return found


@lru_cache(maxsize=_MOST)
def _marks(side: str, signs: int) -> tuple[str, ...]:
    return tuple(side + name for name, sign in _MARKS if signs & sign)


def opening(turn: Incoming, talk: Talk) -> list[str]:
    """Return the features that speak for a turn opening a conversation."""
    fresh = bisect_left(_SILENT, talk.since)
    address = 2 if turn.addressed else 1 if turn.named else 0
    return [
        "new",
        f"new since{fresh}",
        f"new address{address}",
        f"new q{turn.signs & Sign.QUESTION}since{min(fresh, 5)}",
        f"new called{int(talk.called_since)}",
        f"new words{bisect_left(_WORDS, turn.words)}",
        f"new partners{min(len(talk.partners), 3)}",
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
