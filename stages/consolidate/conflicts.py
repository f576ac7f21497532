"""What keeps two statements apart, whatever a model says of them (AutoViewMem 3.2; the rules are ours).

Two statements in one frame that differ in what stands at one place of it ("allergic to peanuts", "allergic to pollen")
contradict each other or are two facts; none of them completes the other. So a rewrite may only join what contains, or
what is said in other words about other sides of one thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from stages.consolidate.containment import contains, same, shared
from stages.consolidate.terms import Term
from stages.consolidate.vocabulary import CLASSES, COPULAS, DETERMINERS, HEDGES, JOINING, NEGATIONS
from stages.text.tokens import stem

_FEW = 2
"""Terms of content that stand at one place of a frame; where more differ, another thing is said."""

_ALIKE = 600
"""Share in thousandths of the content of the shorter statement, in any order, from which both are one frame."""


def apart(left: Sequence[Term], right: Sequence[Term], about: Collection[str]) -> str | None:
    """Return why two statements can't become one, if so; ``about`` are words of whom and what both are about."""
    if same(left, right) or contains(left, right) or contains(right, left):
        return None
    if _adds(left, right) or _adds(right, left):
        return None
    if _denials(left) != _denials(right):
        return "one of them denies something"
    if Counter(one.text for one in left) == Counter(one.text for one in right):
        return None if _is_turned(left, right) else "the same words in another order"
    if _counts_otherwise(left, right):
        return "other numbers"
    return "other details at the same place" if _is_one_frame(left, right, about) else None


def _adds(long: Sequence[Term], short: Sequence[Term]) -> bool:
    """Tell whether ``long`` has all terms of ``short`` in order, and what it adds doubts and denies nothing."""
    rest = iter(long)
    if not all(any(one.says(term) for one in rest) for term in short):
        return False
    added = Counter(one.text for one in long) - Counter(one.text for one in short)
    return not (added.keys() & (HEDGES | NEGATIONS))


def _denials(one: Sequence[Term]) -> int:
    return sum(term.text in NEGATIONS for term in one)


def _is_turned(left: Sequence[Term], right: Sequence[Term]) -> bool:
    """Tell whether one says "A is B" and the other "B is A"."""
    copulas = (at for at, term in enumerate(left) if term.text in COPULAS)
    return any(same((*left[at + 1 :], left[at], *left[:at]), right) for at in copulas)


def _counts_otherwise(left: Sequence[Term], right: Sequence[Term]) -> bool:
    """Tell whether both count the same, differently: another number before or behind the same word."""
    here, there = _numbers(left), _numbers(right)
    only_here = {near for number, near in here if number not in {other for other, _ in there}}
    only_there = {near for number, near in there if number not in {other for other, _ in here}}
    return bool(only_here & only_there)


def _numbers(one: Sequence[Term]) -> set[tuple[str, str]]:
    """Return each number with each of its neighbours."""
    pairs = list(pairwise(one))
    beside = (*pairs, *((after, before) for before, after in pairs))
    return {(term.text, near.text) for term, near in beside if term.is_number}


def _is_one_frame(left: Sequence[Term], right: Sequence[Term], about: Collection[str]) -> bool:
    head = shared(left, right)
    tail = min(shared(left[::-1], right[::-1]), min(len(left), len(right)) - head)
    mine, yours = left[head : len(left) - tail], right[head : len(right) - tail]
    if tail and min(_size(mine), _size(yours)) <= 1 and max(_size(mine), _size(yours)) <= _FEW:
        return True
    if _telling(left[len(left) - tail :], about) and min(_size(mine), _size(yours)) <= _FEW:
        return True
    said = _telling(left[:head], about) or (head > 1 and left[head - 1].text in DETERMINERS)
    if said and _answer_one_question(mine, yours, left[:head]):
        return True
    return _overlap(left, right, about) >= _ALIKE


def _telling(terms: Sequence[Term], about: Collection[str]) -> bool:
    """Tell whether a part that both have says more than whom or what they are about."""
    return any(term.text not in about and term.text not in DETERMINERS for term in terms)


def _size(terms: Sequence[Term]) -> int:
    return sum(term.is_content for term in terms)


def _answer_one_question(mine: Sequence[Term], yours: Sequence[Term], before: Sequence[Term]) -> bool:
    """Tell whether two different endings of one beginning compete: both a where, both a what."""
    if not mine or not yours:
        return False
    one, other = mine[0], yours[0]
    if _class(one) != _class(other) or (one.text in COPULAS) != (other.text in COPULAS):
        return False
    if _class(one) is not None or before[-1].text not in COPULAS:
        return True
    return _joiner(mine) == _joiner(yours) and min(_size(mine), _size(yours)) <= _FEW


def _joiner(terms: Sequence[Term]) -> str | None:
    """Return the first word that joins a detail to what is said ("owned by", "written in")."""
    return next((term.text for term in terms if term.text in JOINING), None)


def _class(term: Term) -> int | None:
    """Return the class of the preposition that a detail begins with, ``None`` where it begins with no preposition."""
    return next((number for number, words in enumerate(CLASSES) if term.text in words), None)


def _overlap(left: Sequence[Term], right: Sequence[Term], about: Collection[str]) -> int:
    named = {stem(word) for word in about}
    mine, yours = ({stem(one.text) for one in side if one.is_content} - named for side in (left, right))
    least = min(len(mine), len(yours))
    return 1000 * len(mine & yours) // least if least else 0
