"""Things of a known class that a turn names, which a later "that book" may stand for (mechanics, normalize 5).

The class comes from the noun or the verb beside the name ("a novel called X", "reading X", "visited X"). A thing
without a name ("a book I got") is kept too: it hides earlier ones of its class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stages.normalize.classes import CLASS_OF, NAME, PLACES, PLAYED, SCREEN, SOUND, TITLE, fits
from stages.normalize.names import Name, is_address

_NOUN = "|".join(sorted(CLASS_OF, key=len, reverse=True))
_DOT = r"[^.!?\n]"
_NOUN_BEFORE = re.compile(
    rf"\b({_NOUN})s?\b,?(?: (?!(?:and|but|with|by)\b)[\w']+){{0,5}}? (?:called|titled|named|entitled)[:,]? $"
    rf"|\b({_NOUN})s?\b(?:[:,]? | (?:is|was|has to be) )$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(
    rf"(?:['\u2019]s)? (?:\w+ )?({_NOUN})\b(?! (?:club|store|shop))"
    rf"|,? (?:is|was)(?: \w+)? (?:an?|the|one of)\b{_DOT}{{0,40}}?\b({_NOUN})s?\b",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"\b(?:it|that|this)(?:['\u2019]s| is| was) (?:like |such |also |really |just )?(?:an?|the|one of)\b"
    rf"{_DOT}{{0,40}}?\b({_NOUN})s?\b",
    re.IGNORECASE,
)
_ABOUT = "(?:the (?:book|novel|movie|film|show|series|song|game) )?"
_VERBS = (
    ("book", re.compile(rf"\b(?:read|reading|reread|rereading|re-reading) (?:\w+ )?{_ABOUT}$", re.IGNORECASE), False),
    (SCREEN, re.compile(rf"\b(?:watch|watched|watching|rewatch|rewatched|rewatching) {_ABOUT}$", re.IGNORECASE), False),
    (SCREEN, re.compile(r"\b(?:see|saw|seen|seeing) $", re.IGNORECASE), True),
    (PLAYED, re.compile(r"\b(?:play|played|playing) $", re.IGNORECASE), True),
    (SOUND, re.compile(r"\b(?:listen|listened|listening) to $", re.IGNORECASE), True),
    ("song", re.compile(r"\b(?:sing|sang|singing) $", re.IGNORECASE), True),
    (
        "restaurant",
        re.compile(
            r"\b(?:eat|ate|eating|eaten|dined?|dinner|lunch|breakfast|brunch|table) at (?:the )?$", re.IGNORECASE
        ),
        False,
    ),
    ("hotel", re.compile(r"\b(?:stay|stayed|staying|room) at (?:the )?$", re.IGNORECASE), False),
    ("book", re.compile("(?:看|读|讀)(?:了|过|完)?$"), True),
)
"""Class, verb right before the name, whether only a quoted title counts."""

_PLACE = re.compile(
    r"\b(?:visit(?:ed|ing)?|explor(?:e|ed|ing)|(?:go|goes|going|went|been|gone|travel(?:l?ed|l?ing)?|trip|flew|fly|flying"
    r"|mov(?:e|ed|ing)|drive|drove|back|head(?:ed|ing)?|off|return(?:ed|ing)?|tour) to"
    r"|(?:live|lives|living|lived|stay|stayed|staying|based|vacation|holiday|born|arriv(?:e|ed|ing)) in) (?:the )?$",
    re.IGNORECASE,
)
_MAY_BE_PLACE = re.compile(r"\b(?:is|was|in|to|from|at|near|around|like|about|through)(?: the)? $|^$", re.IGNORECASE)
_PLACED = re.compile(rf"(?:{'|'.join(noun.title() for noun, kind in CLASS_OF.items() if kind in PLACES)})$")
_KIN = frozenset(
    "mom mum dad grandma grandpa granny mama papa aunt auntie uncle sis bro god english spanish french german".split()
)

_UNNAMED = re.compile(
    r"\b(?:an?|another|one|what|which|my|your|our|his|her|their|some|any|new|this (?:\w+ )?)"
    r" ?(?:(?!(?:and|or|of|in|on|to|for|is|was|the)\b)[\w'-]+ ){0,3}"
    rf"({_NOUN})\b(?! (?:club|store|shop|shelf|night|about))",
    re.IGNORECASE,
)
_IS = re.compile(r"(?:['\u2019]s|\b(?:is|was|are|be|been|such|like|as)) $", re.IGNORECASE)
_LOOK = 60
"""Characters before and after a name in which its class is looked for: a phrase."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing at ``[start, end)`` of a text; ``name`` is empty for one without a name."""

    name: str
    kind: str
    start: int
    end: int


def things(text: str, found: Sequence[Name]) -> list[Thing]:
    """Return the things of ``text``, whose names are ``found``, in order of appearance."""
    named = [thing for name in found if (thing := _classed(text, name)) is not None]
    unnamed = [thing for thing in _unnamed(text) if not _is_named(thing, named)]
    return sorted([*named, *unnamed], key=lambda thing: thing.start)


def _classed(text: str, name: Name) -> Thing | None:
    kind = _kind(text, name)
    if kind is None:
        kind = (
            NAME
            if _MAY_BE_PLACE.search(text, max(0, name.start - 16), name.start) and not is_address(text, name)
            else None
        )
    return None if kind is None else Thing(name.text, kind, name.start, name.end)


def _kind(text: str, name: Name) -> str | None:
    before, after = _phrase_before(text, name.start), text[name.end : name.end + _LOOK]
    for match in (_NOUN_BEFORE.search(before), _NOUN_AFTER.match(after)):
        if match is not None:
            return CLASS_OF[next(group for group in match.groups() if group).lower()]
    for kind, verb, quoted_only in _VERBS:
        if (name.quoted or not quoted_only) and verb.search(before) and not _owns(after):
            return kind
    if not name.quoted:
        return _place(name, before, after)
    predicate = _PREDICATE.search(text, name.end, name.end + 3 * _LOOK)
    return TITLE if predicate is None else CLASS_OF[predicate.group(1).lower()]


def _phrase_before(text: str, start: int) -> str:
    before = text[max(0, start - _LOOK) : start]
    return re.split(r"[.!?\n。\uff01\uff1f]", before)[-1]


def _owns(after: str) -> bool:
    return after.startswith(("'s", "\u2019s"))


def _place(name: Name, before: str, after: str) -> str | None:
    last = _PLACED.search(name.text)
    if last is not None and " " in name.text:
        return CLASS_OF[last.group().lower()]
    known = name.text.lower() not in _KIN and not _owns(after)
    return "place" if known and _PLACE.search(before) else None


def _unnamed(text: str) -> list[Thing]:
    return [
        Thing("", CLASS_OF[match.group(1).lower()], match.start(1), match.end(1))
        for match in _UNNAMED.finditer(text)
        if not _IS.search(text, max(0, match.start() - 8), match.start())
    ]


def _is_named(thing: Thing, named: Sequence[Thing]) -> bool:
    """Tell whether the turn names the thing itself: one of its class, or a title that may be of it."""
    return any(fits(thing.kind, other.kind) for other in named)
