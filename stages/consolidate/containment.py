"""Whether one statement says all that another says: its words in their order, with details added (AutoViewMem 3.2).

Careful on purpose: the words of the shorter one stand in the longer one whole and in order, and what is added at one
place begins like a detail and has nothing in it that limits, doubts or denies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stages.consolidate.terms import ON, Term
from stages.consolidate.vocabulary import AFTER, DETERMINERS, HEDGES, JOINING, MAKE_BELIEVE, MARKERS, NEGATIONS

_CLAUSE = frozenset(",;()\u2013\u2014\uff0c\u3001\uff1b\u060c")
"""Punctuation behind which something is added."""

_STOPS = frozenset(".!\u2026\u3002\u0964")
"""Ends of sentences: what comes behind all of a statement leaves it as it is, unless it takes it back."""

_NAMING = frozenset({"called", "named"})
_LINKING = frozenset("and to y et e und or и و -".split())
_HALF = frozenset({"half", "quarter"})


def same(left: Sequence[Term], right: Sequence[Term]) -> bool:
    """Tell whether two statements are one, term by term."""
    return len(left) == len(right) and all(one.says(other) for one, other in zip(left, right, strict=True))


def contains(long: Sequence[Term], short: Sequence[Term]) -> bool:
    """Tell whether ``long`` says all of ``short`` and adds details."""
    if not 0 < len(short) < len(long) or Counter(one.text for one in short) - Counter(one.text for one in long):
        return False
    return _fits(long, short, 0, 0, set())


def _fits(long: Sequence[Term], short: Sequence[Term], at: int, done: int, failed: set[tuple[int, int]]) -> bool:
    """Tell whether the rest of ``long`` from ``at`` on is the rest of ``short`` with details between."""
    if done == len(short):
        return at == len(long) or _is_detail(long[:at], long[at:], ())
    if (at, done) in failed:
        return False
    if at < len(long) and long[at].says(short[done]) and _fits(long, short, at + 1, done + 1, failed):
        return True
    room = len(long) - at - (len(short) - done)
    for end in range(at + 1, at + room + 1):
        joined = long[end].says(short[done]) and _is_detail(long[:at], long[at:end], long[end:])
        if joined and _fits(long, short, end + 1, done + 1, failed):
            return True
    failed.add((at, done))
    return False


def shared(left: Sequence[Term], right: Sequence[Term]) -> int:
    """Return how many terms two statements begin with alike."""
    pairs = zip(left, right, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if not one.says(other)), min(len(left), len(right)))


def _is_detail(before: Sequence[Term], added: Sequence[Term], after: Sequence[Term]) -> bool:
    """Tell whether what is ``added`` between the terms of a statement takes nothing of it back."""
    if not before:
        return all(term.text in MARKERS for term in added)
    if any(term.text in HEDGES or (term.text in NEGATIONS and not _repeats(term, before, added)) for term in added):
        return False
    begins = _ends_sentence(added, after) or _joins(added, after) or _modifies(before, added, after)
    return begins and not _counts_on(before, added)


def _ends_sentence(added: Sequence[Term], after: Sequence[Term]) -> bool:
    """Tell whether what is added is a sentence of its own behind all the rest."""
    return not after and bool(set(added[0].gap) & _STOPS)


def _joins(added: Sequence[Term], after: Sequence[Term]) -> bool:
    """Tell whether a detail begins, or ends, as such; within a statement it ends before the rest goes on."""
    if set(added[0].gap) & _CLAUSE:
        return not after or bool(after[0].gap) or after[0].text in JOINING
    if added[0].text in JOINING | _NAMING or added[0].gap.endswith(ON):
        return not after or after[0].text in JOINING or added[-1].text in AFTER
    return bool(after) and added[-1].text in AFTER


def _modifies(before: Sequence[Term], added: Sequence[Term], after: Sequence[Term]) -> bool:
    """Tell whether one word is added that says more of the thing: "a grey cat", "his sister Anna".

    A word behind the thing may make another thing of it ("a car seat"), one before it seldom does ("a toy car").
    """
    if len(added) != 1 or not after or added[0].is_number or not added[0].is_content or added[0].gap:
        return False
    word, last = added[0], before[-1]
    if word.capital:
        return last.is_content and last.capital is False
    return last.text in DETERMINERS and after[0].is_content and word.text not in MAKE_BELIEVE


def _repeats(term: Term, before: Sequence[Term], added: Sequence[Term]) -> bool:
    """Tell whether a negation only adds to what is denied, or leaves a thing out ("tea, without sugar")."""
    denied = any(one.text in NEGATIONS for one in before)
    return bool(term.gap) and added[0] is term and (denied or term.text not in {"not", "nicht", "no", "не", "non"})


def _counts_on(before: Sequence[Term], added: Sequence[Term]) -> bool:
    """Tell whether an addition goes on with a quantity ("1 hour and 30 minutes", "two and a half years")."""
    counted = any(one.is_number for one in before[-2:])
    goes_on = added[0].is_number or added[0].text in _LINKING
    return counted and goes_on and any(one.is_number or one.text in _HALF for one in added[:3])
