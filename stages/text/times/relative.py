"""Expressions that count from the turn's own day: "yesterday", "last week", "recently"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemas.interval import Grain
from stages.text.times.calendar import (
    DAY,
    Stretch,
    Toward,
    Unit,
    fraction,
    midnight,
    part_of,
    unit_at,
)
from stages.text.times.context import Context, Rule
from stages.text.times.counted import rolled
from stages.text.times.words import DAYS, EDGE, MOD, PART, UNITS, S, edge_of, either, rule

if TYPE_CHECKING:
    import re

_BACK: Final = ("last", "previous", "past")
# "The other day" and "recently" have no edges; these are the widest that a listener would grant.
_LOOSE: Final = {"day": 7 * DAY, "night": 7 * DAY, "week": 21 * DAY, "month": 90 * DAY}
_FRIDAY: Final = 4
_RECENTLY: Final = 30 * DAY


def _day(match: re.Match[str], context: Context) -> Stretch | None:
    # "In today's world" is no day.
    if match["own"] and context.text[max(0, match.start() - 3) : match.start()].lower() == "in ":
        return None
    start = midnight(context.now) + DAYS[match["day"].lower()] * DAY
    part = match["part"]
    return part_of(start, part.lower()) if part else Stretch(start, start + DAY, Grain.DAY)


def _day_beyond(match: re.Match[str], context: Context) -> Stretch:
    start = midnight(context.now) + (-2 if match["way"].lower() == "before" else 2) * DAY
    return Stretch(start, start + DAY, Grain.DAY)


def _part(match: re.Match[str], context: Context) -> Stretch:
    words = match[0].lower()
    day = context.now - DAY if words.startswith("last") else context.now
    return part_of(day, next((part for part in ("morning", "afternoon", "evening") if part in words), "night"))


def _calendar(match: re.Match[str], context: Context) -> Stretch | None:
    unit, way = UNITS[match["unit"].lower()], match["mod"].lower()
    if unit is not Unit.WEEKEND and (way == "past" or (match["over"] and way in {"last", "next"})):
        return rolled(context.now, unit, way, 1)
    count = -1 if way.endswith(_BACK) else 0 if way == "this" else 1
    # From Monday to Thursday "this weekend" told of as past is the one that has gone by.
    if unit is Unit.WEEKEND and way == "this" and context.now.weekday() < _FRIDAY:
        count = -1 if context.toward(*match.span()) is Toward.PAST else 0
    found = unit_at(context.now, unit, count)
    today = midnight(context.now)
    part = (match["part"] or "").lower()
    if part == "earlier" and found.start < today < found.end:
        return found._replace(end=today + DAY, vague=True)
    return found._replace(start=today, vague=True) if part == "later" and found.start < today else found


def _two_over(match: re.Match[str], context: Context) -> Stretch:
    return unit_at(context.now, UNITS[match["unit"].lower()], -2 if match["way"] else 2)


def _weekend(match: re.Match[str], context: Context) -> Stretch | None:
    toward = Toward.PAST if match["core"] else context.toward(*match.span())
    gone = toward is Toward.PAST and context.now.weekday() < _FRIDAY
    return None if toward is Toward.NEAR else unit_at(context.now, Unit.WEEKEND, -1 if gone else 0)


def _edge(match: re.Match[str], context: Context) -> Stretch:
    whole = unit_at(context.now, UNITS[match["unit"].lower()])
    if match["edge"].lower() == "rest":
        return whole._replace(start=midnight(context.now), vague=True)
    return fraction(whole, *edge_of(match["edge"]))


def _other(match: re.Match[str], context: Context) -> Stretch:
    today = midnight(context.now)
    unit = match["unit"].lower()
    return Stretch(today - _LOOSE[unit], today, Grain.WEEK if unit == "week" else Grain.DAY, vague=True)


def _recently(_match: re.Match[str], context: Context) -> Stretch:
    today = midnight(context.now)
    return Stretch(today - _RECENTLY, today + DAY, Grain.MONTH, vague=True)


_BIG: Final = "(?P<unit>week|weekend|month|year|decade)"
_WAYS: Final = frozenset({"last", "past", "previous", "this", "next", "coming", "upcoming"})
_UNITS: Final = frozenset(UNITS)
RELATIVE: Final = (
    Rule(
        frozenset(DAYS),
        rule(rf"(?P<day>{either(DAYS)})(?P<own>['\u2019]s)?(?:{S}(?P<part>{PART}|noon))?"),
        _day,
    ),
    Rule(
        frozenset({"yesterday", "tomorrow"}),
        rule(rf"(?:the{S})?day{S}(?P<way>before|after){S}(?:yesterday|tomorrow)"),
        _day_beyond,
    ),
    Rule(
        frozenset({"night", "tonight", "tonite", "morning", "evening", "afternoon"}),
        rule(rf"tonight|tonite|last{S}(?:night|evening)|this{S}(?:morning|afternoon|evening)"),
        _part,
    ),
    Rule(
        _WAYS,
        rule(
            rf"(?P<over>(?:in|over|during|within|for|through){S}(?=the{S}))?(?P<core>(?:(?P<part>earlier|later){S})?"
            rf"(?:the{S})?(?P<mod>{MOD}){S}{_BIG})(?!{S}of\b)"
        ),
        _calendar,
        also=_UNITS,
    ),
    Rule(
        frozenset({"last", "next"}),
        rule(rf"(?:the{S})?{_BIG}{S}(?:(?P<way>before){S}last|after{S}next)"),
        _two_over,
        also=_UNITS,
    ),
    Rule(
        frozenset({"weekend"}),
        rule(
            rf"(?:had|spent){S}(?:such{S})?an?(?:{S}[\w-]{{1,20}}){{0,3}}{S}(?P<core>weekend)|(?:the|our|my){S}weekend"
        ),
        _weekend,
    ),
    Rule(
        frozenset({"of"}),
        rule(
            rf"(?:the{S})?(?:very{S})?(?P<edge>{EDGE}|rest){S}of{S}(?:the|this){S}"
            r"(?P<unit>week|month|year|decade)"
        ),
        _edge,
        also=_UNITS,
    ),
    Rule(frozenset({"other"}), rule(rf"(?:just{S})?the{S}other{S}(?P<unit>day|night|week|month)"), _other),
    Rule(frozenset({"recently", "lately"}), rule(r"(?<!until\s)(?:recently|lately)"), _recently),
)
