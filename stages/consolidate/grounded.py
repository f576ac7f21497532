"""Whether a rewrite says what its sources say, and nothing else: numbers, names, negations, words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from stages.consolidate.terms import Term, terms
from stages.consolidate.vocabulary import HEDGES, JOINING, NEGATIONS
from stages.text.tokens import stem

_KEPT: Final = 700
"""Share in thousandths of a source's telling words that a rewrite has: it may say a thing once that was said twice in
other words, but a detail that it leaves out is lost."""

_FREE: Final = JOINING | frozenset("also both whose".split())
"""Words that a rewrite may add to join what it was given."""


def invented(text: str, sources: Sequence[str]) -> str | None:
    """Return what a summary says that no source says, ``None`` if nothing; it need not say everything."""
    made, given = terms(text), [terms(source) for source in sources]
    if not any(term.is_content for term in made):
        return "the text says nothing"
    fault = _new(made, given)
    denies = _negations(made) > sum(_negations(one) for one in given)
    return fault or ("it denies more than the statements do" if denies else None)


def ungrounded(text: str, sources: Sequence[str]) -> str | None:
    """Return what a rewrite adds or leaves out, ``None`` if nothing."""
    made, given = terms(text), [terms(source) for source in sources]
    if not any(term.is_content for term in made):
        return "the text says nothing"
    return _added(made, given) or next((fault for one in given if (fault := _lost(made, one))), None)


def _added(made: Sequence[Term], given: Sequence[Sequence[Term]]) -> str | None:
    return _new(made, given) or _denied(made, given)


def _new(made: Sequence[Term], given: Sequence[Sequence[Term]]) -> str | None:
    known = {one for source in given for one in _stems(source)} | {stem(word) for word in _FREE}
    new = next((term.text for term in made if _counts(term) and _base(term) not in known), None)
    return None if new is None else f"no statement says {new!r}"


def _denied(made: Sequence[Term], given: Sequence[Sequence[Term]]) -> str | None:
    counts = [_negations(one) for one in given]
    if max(counts) <= _negations(made) <= sum(counts):
        return None
    return "it denies more, or less, than the statements do"


def _negations(one: Iterable[Term]) -> int:
    return sum(term.text in NEGATIONS for term in one)


def _lost(made: Sequence[Term], source: Sequence[Term]) -> str | None:
    there = _stems(made)
    must = [term.text for term in source if _is_detail(term) and _base(term) not in there]
    if must:
        return f"{must[0]!r} of a statement is missing"
    telling = {_base(term) for term in source if term.is_content}
    kept = 1000 * len(telling & there) // len(telling) if telling else 1000
    return None if kept >= _KEPT else "too little is left of a statement"


def _is_detail(term: Term) -> bool:
    """Tell whether a term must stay: a number, a name, a sign, a word that limits or denies."""
    return term.is_number or bool(term.capital) or not term.text[0].isalnum() or term.text in HEDGES | NEGATIONS


def _counts(term: Term) -> bool:
    """Tell whether a term may not be new: all but words that hold a sentence together."""
    return term.is_content or term.text in HEDGES


def _stems(found: Iterable[Term]) -> set[str]:
    return {_base(term) for term in found}


def _base(term: Term) -> str:
    return stem(term.text.removesuffix("'s"))
