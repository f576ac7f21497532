"""Names that come round again: weekdays, months, seasons and holidays, with and without a year."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from stages.text.times.calendar import (
    WEEK,
    Stretch,
    Toward,
    month_of,
    part_of,
    season_of,
    weekday,
    yearly,
)
from stages.text.times.context import Context, Rule, phrase_span
from stages.text.times.holidays import HOLIDAYS, holiday_in
from stages.text.times.words import (
    MOD,
    MONTH,
    MONTHS,
    PART,
    POINT,
    SEASON,
    SEASONS,
    WEAK_MONTHS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    S,
    either,
    rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_WAYS: Final = {"last": Toward.LAST, "previous": Toward.LAST, "past": Toward.LAST, "this": Toward.THIS}
_RELATIVE_YEAR: Final = rf"(?:of{S}|in{S})?(?:the{S})?(?P<which>last|this|next|previous){S}year"
_OWN_YEAR: Final = rf"(?:(?:,?\s{{0,2}}|{S}of{S})(?P<year>{YEAR})(?![\w%]|[.,:/-]\d)|{S}{_RELATIVE_YEAR})"
# Said before a name, these make it a time and not a person or a thing.
_AT: Final = (
    rf"(?:(?:in|on|at|by|since|until|till|from|through|during|over|before|after|between|around|for|of|to|this{S}"
    rf"past|early|mid|late|end{S}of|start{S}of|beginning{S}of|middle{S}of|and|starting){S}|mid-)"
)


def way_of(words: str | None, default: Toward) -> Toward:
    """Return what "last", "this past", "next" ... ask for; ``default`` for none."""
    if not words:
        return default
    return _WAYS.get(words.lower().split()[-1], Toward.NEXT)


def year_meant(match: re.Match[str], context: Context) -> int | None:
    """Return the year that a match names, in figures or as "last year"; None where it names none."""
    if match["year"]:
        return int(match["year"])
    if match["which"]:
        return context.now.year + {"this": 0, "next": 1}.get(match["which"].lower(), -1)
    return None


_BY_EVENT: Final = re.compile(
    rf"{S}(?:before|after){S}(?:the|my|our|your|his|her|their|we|i|you|he|she|it|they|that)\b", re.IGNORECASE
)
"""What follows a day that is told by something that happened: "the Friday before the floor went"."""


def _weekday(match: re.Match[str], context: Context) -> Stretch | None:
    name, mod = match["day"], (match["mod"] or "").lower()
    if not (name.lower().endswith("day") or mod or (match["at"] and name[0].isupper())):
        return None
    start = match.start("core")
    if _EVERY.search(match.string, max(0, start - 60), start) or _BY_EVENT.match(match.string, match.end()):
        return None
    toward = way_of(mod, context.toward(*phrase_span(match)))
    # "This coming Friday" is the next to come, and so is "this Friday" unless it is told of as past.
    if mod in {"this", "coming", "upcoming", "this coming"}:
        past = mod == "this" and context.toward(*phrase_span(match)) is Toward.PAST
        toward = Toward.PAST if past else Toward.FUTURE
    if match["back"]:
        toward = Toward.LAST
    found = weekday(WEEKDAYS[name.lower()], context.now, toward)
    if found and match["back"] and match["back"].lower().endswith("last"):
        found = Stretch(found.start - WEEK, found.end - WEEK, found.grain)
    part = match["part"]
    return part_of(found.start, part.lower()) if found and part else found


def _month(match: re.Match[str], context: Context) -> Stretch | None:
    name, mod = match["month"], match["mod"]
    index = MONTHS[name.lower()]
    # The date of this month does not exist, or it would have been found.
    if _NUMBERED.search(match.string, max(0, match.start() - _REACH), match.start("core")):
        return None
    year = year_meant(match, context)
    if year is not None:
        return month_of(year, index)
    if not mod and name.lower() in WEAK_MONTHS and not _led_in(match):
        return None
    # In small letters "may" and "march" need a word that can only go before a time.
    if name.islower() and name.lower() in WEAK_MONTHS and not _firm(match):
        return None
    return yearly(lambda y: month_of(y, index), context.now, way_of(mod, context.toward(*phrase_span(match))))


def _led_in(match: re.Match[str]) -> bool:
    """Tell whether the word before "May" or "June" makes it a month; "to" and "and" do in a range."""
    at = (match["at"] or "").lower().split()
    start = match.start()
    ranged = _RANGED.search(match.string, max(0, start - _REACH), start)
    return bool(at) and (at[0] not in {"and", "to", "for", "at", "on", "with"} or ranged is not None)


def _firm(match: re.Match[str]) -> bool:
    # "This may help" is no month.
    mod = (match["mod"] or "this").lower()
    return mod != "this" or (match["at"] or "").lower().split()[:1] in (["in"], ["since"], ["until"])


def _yearly(match: re.Match[str], context: Context, make: Callable[[int], Stretch]) -> Stretch | None:
    year = year_meant(match, context)
    if year is not None:
        return make(year)
    return yearly(make, context.now, way_of(match["mod"], context.toward(*phrase_span(match))))


def _season(match: re.Match[str], context: Context) -> Stretch | None:
    name = match["season"].lower()
    told = match["the"] and context.toward(*phrase_span(match)) is not Toward.NEAR
    # "I like the summer" is said of every one.
    if not (told or match["mod"] or year_meant(match, context)):
        return None
    return _yearly(match, context, lambda year: season_of(year, name))


def _holiday(match: re.Match[str], context: Context) -> Stretch | None:
    name = " ".join(match["name"].lower().replace("\u2019", "'").split())
    if not (match["mod"] or match["at"] or year_meant(match, context)):
        return None
    return _yearly(match, context, lambda year: holiday_in(name, year))


_EVERY: Final = re.compile(
    rf"\b(?:every|each|most|all){S}(?:other{S})?(?:{WEEKDAY}s?(?:,?{S}|/)(?:(?:and|or|&){S})?){{0,6}}\Z",
    re.IGNORECASE,
)
_REACH: Final = 32
_NUMBERED: Final = re.compile(rf"[0-9](?:st|nd|rd|th)?{S}(?:of{S})?\Z", re.IGNORECASE)
_RANGED: Final = re.compile(rf"\b(?:from|between){S}(?:the{S})?[a-z]{{3,9}}(?:{S}[0-9]{{1,4}})?{S}\Z", re.IGNORECASE)
_HOLIDAY: Final = either(HOLIDAYS).replace("'", r"['\u2019]")
_NOT_A_THING: Final = (
    rf"(?!{S}(?:tree|song|movie|film|gift|present|part(?:y|ies)|card|spirit|light|decoration|dinner|story|carol"
    rf"|music|market|special|costume|candy|sale|shopping|cookie|feast|meal|bonus|egg|island|school)s?\b)"
)
NAMED: Final = (
    Rule(
        frozenset(WEEKDAYS),
        rule(
            rf"(?:(?P<at>on|by|until|till|since|from|for){S})?(?P<core>(?:(?:the{S})?(?P<mod>{MOD}){S})?(?:(?:early|late){S})?"
            rf"(?:the{S}(?=\w{{1,9}}{S}before))?(?P<day>{WEEKDAY})"
            rf"(?:{S}(?P<back>before(?:{S}last)?(?={S}last|\s?[.,;!?)]|\Z|{S}(?:and|but|we|i|so)\b)))?"
            rf"(?:{S}(?P<part>{PART}))?)(?!{S}(?:school|service|brunch|roast|paper)\b|['\u2019]\w)"
            # "Monday (March 11)": the date says it better.
            rf"(?!\s?\((?:the{S})?(?:{MONTH}|[0-9]))"
        ),
        _weekday,
        "week",
    ),
    Rule(
        frozenset(MONTHS),
        rule(rf"(?P<at>{_AT}(?:the{S})?)?(?P<core>(?:(?P<mod>{MOD}){S})?(?P<month>{MONTH}){POINT}{_OWN_YEAR}?)"),
        _month,
        "year",
    ),
    Rule(
        frozenset(SEASONS),
        rule(
            rf"(?P<at>{_AT})?(?P<core>(?:(?P<the>the{S})|(?:the{S})?(?P<mod>{MOD}){S})?(?P<season>{SEASON})"
            rf"{_OWN_YEAR}?)(?!{S}(?:break|camp|school|vacation|cleaning|jobs?|roll|internship|in{S}love))"
        ),
        _season,
        "year",
    ),
    Rule(
        frozenset(max(name.replace("'", " ").split(), key=len) for name in HOLIDAYS),
        rule(
            rf"(?P<at>{_AT})?(?P<core>(?:(?P<mod>{MOD}){S})?"
            rf"(?P<name>{_HOLIDAY}){_OWN_YEAR}?)" + _NOT_A_THING
        ),
        _holiday,
        "year",
    ),
)
