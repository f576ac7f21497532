"""What "no, I said Tuesday" is about: the statement last made that it puts right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.extracted import ItemKind, Key
from schemas.interval import Interval
from stages.extract_per_view.cues import corrected
from stages.extract_per_view.state import Statement, Told
from stages.extract_per_view.statements import telling
from stages.stored import short, whole
from stages.text.beginning import beginning
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
    """The statement that a correction is about; ``turn_id`` is ``None`` where the turn's id was too long to keep."""

    kind: ItemKind
    key: Key
    text: str
    turn_id: str | None


def values_of(text: str, interval: Interval | None) -> tuple[str, ...]:
    """Return what a statement fixes that can be corrected in a word: its day and its numbers."""
    days = (f"day {interval.start.date().isoformat()}",) if interval is not None else ()
    return (*days, *(f"number {number}" for number in _NUMBER.findall(text)[:4]))


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement of an earlier turn, with the key that it has."""

    told: Told
    statement: Statement
    key: Key


def stated(told: Sequence[Told], ids: Sequence[str]) -> list[Stated]:
    """Return what was stated, latest first.

    A long id is kept as a digest: of people with such ids only those among ``ids`` are known.
    """
    known = {short(name): name for name in ids}
    return list(_latest_first(told, known))


def target_of(
    source: str, key: Key, branch: int, position: int, *, values: Sequence[str], said: Sequence[Stated]
) -> Corrected | None:
    """Return the statement that a correction puts right, the last one that fits, or ``None``.

    A statement on the very same key fits first; else, in the same branch, one that shares the correction's words; else,
    for a correction that names only a new value, one that has another value of that sort.
    """
    for one in said:
        if one.key == key:
            return _corrected(one)
    near = [one for one in said if one.told.branch == branch and one.told.position >= position - REACH]
    words = content_tokens(corrected(source))
    for one in near:
        if overlap(words, content_tokens(one.statement.text)) >= _SAME_THING:
            return _corrected(one)
    if telling(corrected(source)) > _ELLIPTIC:
        return None
    fitting = (one for one in near if _other_value(values, one.statement.values))
    return next((_corrected(one) for one in fitting), None)


def about(text: str, old: str) -> str:
    """Return the correction's text with what it is about behind it, so that it stands alone."""
    return f'{text} (about: "{beginning(old, _ABOUT_BYTES)}")'


def _latest_first(told: Sequence[Told], known: Mapping[str, str]) -> Iterator[Stated]:
    for entry in reversed(told):
        for statement in reversed(entry.statements):
            kept = statement.owner or entry.speaker
            owner = kept if whole(kept) else known.get(kept)
            if owner is not None:
                yield Stated(
                    entry, statement, Key(owner=owner, subject=statement.subject, attribute=statement.attribute)
                )


def _other_value(new: Sequence[str], old: Sequence[str]) -> bool:
    """Tell whether both fix something of one sort, and not the same; a name corrects any statement."""
    if not new:
        return True
    return any(n.split()[0] == o.split()[0] for n in new for o in old) and not set(new) <= set(old)


def _corrected(one: Stated) -> Corrected:
    turn_id = one.told.turn if whole(one.told.turn) else None
    return Corrected(kind=one.statement.kind, key=one.key, text=one.statement.text, turn_id=turn_id)
