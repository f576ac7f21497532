"""Who is addressed, who is named, and who changed their name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from stages.localize_state.nodes import Person

_RENAME = re.compile(r"(?:[=*-]+\s+)?(\S{1,64}) is now known as (\S{1,64})\s*$")
_ADDRESS = re.compile(r"\s*@?(\S{1,64}?(?: \S{1,30}?)?)\s*(?:[:,]|->|>)(?=\s|$)")
_AT = re.compile(r"^\s*@(\S{2,64}?)[:,]?(?=\s|$)")
_FIRST = re.compile(r"^\s*(\S{3,64})\s")
_WORD = re.compile(r"[^\s,:;!?()\"'<>]{3,64}")
_TAIL = re.compile(r"(?:[_`^|\-]+(?:away|afk|work|home|zzz|out|laptop)?|\d{1,4})+$")
_MOST_NAMED = 4
"""People that a text names and that count: one that names more is a list of names."""

_LEAST_PREFIX = 4
"""Shorter beginnings of a nick are words of the language too often."""

_PLAIN = frozenset(
    "the and you for not are was but have this that with all can any out what who how why well yes hello hey thanks "
    "sorry okay guys everyone anyone maybe then also now just when where here there some one two get got use root user "
    "linux ubuntu windows debian help home test mine time good new old man dude sure right like know".split()
)
"""Words that are somebody's nick now and then: taken for a name only with the mark of an address behind them."""


class Called(NamedTuple):
    """Whom a text addresses (at its head) and whom it names elsewhere, as keys of people."""

    addressed: tuple[int, ...] = ()
    named: tuple[int, ...] = ()


def renamed(text: str) -> tuple[str, str] | None:
    """Return (old, new) name of a notice ``old is now known as new``."""
    match = _RENAME.match(text)
    return (match.group(1), match.group(2)) if match else None


def bare(name: str) -> str:
    """Return a nick without case and without the tail that says away, at work, or a second connection."""
    folded = name.casefold()
    return _TAIL.sub("", folded).strip("_`^|[]{}") or folded


def directory(people: Iterable[Person]) -> dict[str, int]:
    """Return names as they may be written to keys; a short form that two people share is nobody's."""
    exact: dict[str, int] = {}
    short: dict[str, int] = {}
    for person in people:
        folded, forms = _forms(person.name)
        exact[folded] = person.key
        for form in forms:
            short[form] = person.key if short.get(form, person.key) == person.key else -1
    return {form: key for form, key in short.items() if key >= 0} | exact


@lru_cache(maxsize=4096)
def _forms(name: str) -> tuple[str, frozenset[str]]:
    """Return a name without case, and its short forms. Kept: each turn asks for those of all people of the space."""
    folded = name.casefold()
    return folded, frozenset({bare(folded), folded.partition(" ")[0]})


def called(text: str, names: Mapping[str, int], speaker: int) -> Called:
    """Find the people whom ``text`` addresses and names; ``speaker`` is never meant."""
    addressed = tuple(dict.fromkeys(key for key in _heads(text, names) if key != speaker))
    found = (names.get(word.casefold().rstrip(".")) for word in _WORD.findall(text) if word.casefold() not in _PLAIN)
    named = tuple(dict.fromkeys(key for key in found if key is not None and key != speaker and key not in addressed))
    return Called(addressed, named[:_MOST_NAMED])


def _heads(text: str, names: Mapping[str, int]) -> Iterator[int]:
    """Yield whom the head of a text addresses: a name with a mark behind it, and another behind that, or a bare one."""
    marked = _ADDRESS.match(text) or _AT.match(text)
    if not marked:
        first = _FIRST.match(text)
        word = first.group(1).casefold() if first else ""
        yield from (names[word],) if word in names and word not in _PLAIN else ()
        return
    for match in (marked, _ADDRESS.match(text, marked.end())):
        key = _known(match.group(1), names) if match else None
        if key is None:
            return
        yield key


def _known(word: str, names: Mapping[str, int]) -> int | None:
    folded = word.casefold()
    for form in (folded, bare(folded), folded.rpartition(" ")[2]):
        if form in names:
            return names[form]
    if len(folded) < _LEAST_PREFIX or folded in _PLAIN:
        return None
    keys = {key for name, key in names.items() if name.startswith(folded)}
    return keys.pop() if len(keys) == 1 else None
