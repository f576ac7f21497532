"""What "no, I said Tuesday" is about: the statement last made that it puts right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.extracted import ItemKind, Key
from schemas.interval import Interval
from stages.extract_per_view.cues import corrected
from stages.extract_per_view.state import Statement, Told
from stages.extract_per_view.statements import telling
from stages.text.similarity import overlap
from stages.text.tokens import content_tokens

REACH = 16
"""Events back that a correction without words of its own can reach: people correct what was just said."""

_SAME_THING = 250
"""Thousandths of word overlap from which a correction speaks of a statement (one word in four is shared)."""

_ELLIPTIC = 3
"""Telling stems up to which a correction names only the new value ("no, I meant the blue one")."""

_ABOUT_BYTES = 160
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Corrected:
    """The statement that a correction is about."""

    kind: ItemKind
    key: Key
    text: str


def values_of(text: str, interval: Interval | None) -> tuple[str, ...]:
    """Return what a statement fixes that can be corrected in a word: its day and its numbers."""
    days = (f"day {interval.start.date().isoformat()}",) if interval is not None else ()
    return (*days, *(f"number {number}" for number in _NUMBER.findall(text)[:4]))


def target_of(
    source: str, key: Key, branch: int, position: int, *, values: Sequence[str], told: Sequence[Told]
) -> Corrected | None:
    """Return the statement that a correction puts right, the last one that fits, or ``None``.

    A statement on the very same key fits first; else, in the same branch, one that shares the correction's words; else,
    for a correction that names only a new value, one that has another value of that sort.
    """
    statements = list(_latest_first(told))
    for entry, statement in statements:
        if _key(entry, statement) == key:
            return _corrected(entry, statement)
    near = [(entry, one) for entry, one in statements if entry.branch == branch and entry.position >= position - REACH]
    words = content_tokens(corrected(source))
    for entry, statement in near:
        if overlap(words, content_tokens(statement.text)) >= _SAME_THING:
            return _corrected(entry, statement)
    if telling(corrected(source)) > _ELLIPTIC:
        return None
    fitting = (pair for pair in near if _other_value(values, pair[1].values))
    return next((_corrected(*pair) for pair in fitting), None)


def about(text: str, old: str) -> str:
    """Return the correction's text with what it is about behind it, so that it stands alone."""
    clip = old.encode()[:_ABOUT_BYTES].decode("utf-8", "ignore")
    return f'{text} (about: "{clip}")'


def _latest_first(told: Sequence[Told]) -> Iterator[tuple[Told, Statement]]:
    for entry in reversed(told):
        for statement in reversed(entry.statements):
            yield entry, statement


def _other_value(new: Sequence[str], old: Sequence[str]) -> bool:
    """Tell whether both fix something of one sort, and not the same; a name corrects any statement."""
    if not new:
        return True
    return any(n.split()[0] == o.split()[0] for n in new for o in old) and not set(new) <= set(old)


def _key(entry: Told, statement: Statement) -> Key:
    return Key(owner=statement.owner or entry.speaker, subject=statement.subject, attribute=statement.attribute)


def _corrected(entry: Told, statement: Statement) -> Corrected:
    return Corrected(kind=statement.kind, key=_key(entry, statement), text=statement.text)
