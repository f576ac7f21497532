"""What speaks for an opening turn of a conversation of two going on with a branch: binary features.

The trajectory counts, not the turn alone (ArborMem, state localization): a branch is judged by the best of its turns,
by the words of all of it, by its newest turn and by how long it has been silent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from stages.localize_state.incoming import Incoming
from stages.localize_state.nodes import Sign
from stages.localize_state.threads import Thread

_COSINES = (100, 200, 300, 400, 500, 650)
_MARGINS = (-200, -100, -40, 0, 40, 100, 200)
"""Bounds in thousandths for all-MiniLM-L6-v2, as the weights are: another encoder needs both of its own."""

_MINUTES = (3, 20, 180, 1440, 10080)
_WORDS = (2, 5, 9, 14, 22)
_OVERLAPS = (0, 3, 6, 10, 15)
_SIGNS = (
    ("ANSWER", Sign.ANSWER),
    ("THANKS", Sign.THANKS),
    ("GREETING", Sign.GREETING),
    ("OPENING", Sign.OPENING),
    ("CLOSING", Sign.CLOSING),
    ("ANAPHORA", Sign.ANAPHORA),
    ("REQUEST", Sign.REQUEST),
    ("QUESTION", Sign.QUESTION),
)
_FITS = (
    ("ASKS_WHEN", Sign.ASKS_WHEN, Sign.TIME),
    ("ASKS_COUNT", Sign.ASKS_COUNT, Sign.NUMBER),
    ("ASKS_WHERE", Sign.ASKS_WHERE, Sign.TIME | Sign.NUMBER),
)
"""What a question asks for, and what an answer to it shows (to one for a place: a time or number does not fit)."""

_TELLING = 3
"""Weight of shared words, more than any rival's, that lets a branch's best turn stand for its newest: short turns are
near many others without a word of content in common, so that nearness alone does not tell that a branch is resumed."""

_RARE = 4
"""What a word counts that no branch has: one less for each branch that has it, and never less than one."""

_TERSE = 5
"""Words below which a turn seldom stands alone."""


@dataclass(frozen=True, slots=True)
class Field:
    """What candidates are measured against: the best rivals and how many branches use a word."""

    threads: tuple[Thread, ...]
    cosines: tuple[int, int]
    overlaps: tuple[int, ...]
    best_overlaps: tuple[int, int]


def field_of(turn: Incoming, threads: Sequence[Thread]) -> Field:
    """Weigh the words of all candidates once."""
    shared = [thread.tokens.intersection(turn.tokens) for thread in threads]
    frequency = Counter(chain.from_iterable(shared))
    overlaps = tuple(sum([max(1, _RARE - frequency[token]) for token in tokens]) for tokens in shared)
    return Field(tuple(threads), _two([t.cosine for t in threads]), overlaps, _two(list(overlaps)))


def _two(values: list[int]) -> tuple[int, int]:
    best = sorted((*values, 0, 0), reverse=True)
    return best[0], best[1]


def features(turn: Incoming, index: int, rivals: Field) -> list[str]:
    """Return the features of a candidate that hold."""
    thread = rivals.threads[index]
    active = "b" if thread.age else "a"
    return [
        f"age{min(thread.age, 4)}",
        f"{active}session{int(turn.session == thread.session)}",
        f"{active}human{int(not thread.signs & Sign.AGENT)}{int(thread.target.person == turn.person)}",
        f"{active}depth{min(thread.target.depth, 3)}",
        # a branch that was left may be resumed after any time: only the active one grows cold
        *([] if thread.age else [f"min{bisect_left(_MINUTES, (turn.at - thread.target.at) // 60)}"]),
        *(active + likeness for likeness in _likeness(index, rivals)),
        *(active + answer for answer in _answer(turn, thread)),
    ]


def _likeness(index: int, rivals: Field) -> Iterator[str]:
    thread, overlap = rivals.threads[index], rivals.overlaps[index]
    rival = rivals.cosines[1] if thread.cosine == rivals.cosines[0] else rivals.cosines[0]
    other = rivals.best_overlaps[1] if overlap == rivals.best_overlaps[0] else rivals.best_overlaps[0]
    yield f"cos{bisect_left(_COSINES, thread.cosine)}"
    yield f"margin{bisect_left(_MARGINS, thread.cosine - rival)}"
    yield f"overlap{bisect_left(_OVERLAPS, overlap)}"
    yield f"lead{max(-2, min(2, (overlap - other) // 2))}"
    backed = overlap > max(other, _TELLING)
    near = thread.cosine if thread.near is None or backed else thread.near
    yield f"near{bisect_left(_COSINES, near)}"


def _answer(turn: Incoming, thread: Thread) -> Iterator[str]:
    """Yield how the turn fits what was said last in the branch: a question, an offer, a farewell."""
    then, now = thread.signs, turn.signs
    asked, closed, parting = (
        int(bool(sign)) for sign in (then & Sign.QUESTION, then & Sign.CLOSING, now & Sign.CLOSING)
    )
    polar = int(bool(then & Sign.POLAR)) + 2 * int(bool(then & Sign.ASKS_WHAT))
    yield f"asked{asked}words{bisect_left(_WORDS, turn.words)}"
    yield f"{'assent' if now & Sign.ASSENT else 'other'}{polar}{closed}"
    yield from (f"{name}{asked}" for name, sign in _SIGNS if now & sign)
    if closed:
        yield f"closed{parting}"
    if parting:
        yield f"parting{asked}"
    if asked:
        request = int(bool(now & Sign.REQUEST))
        yield from (f"fit {name}{int(bool(now & told))}{request}" for name, asks, told in _FITS if then & asks)
    elif turn.words < _TERSE:
        yield f"terse{int(bool(now & Sign.NUMBER))}"


def opening(turn: Incoming, rivals: Field) -> Iterator[str]:
    """Yield the features that speak for a new root."""
    yield "new"
    yield f"new cos{bisect_left(_COSINES, rivals.cosines[0])}"
    yield f"new overlap{bisect_left(_OVERLAPS, rivals.best_overlaps[0])}"
    yield f"new words{bisect_left(_WORDS, turn.words)}"
    for name, sign in _SIGNS:
        if turn.signs & sign:
            yield f"new {name}"
