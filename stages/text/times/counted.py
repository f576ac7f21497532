"""Expressions that count units of time: "two weeks ago", "in an hour", "for three years"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stages.text.times.calendar import (
    DAY,
    Stretch,
    Toward,
    Unit,
    delta,
    floor,
    grain_of,
    midnight,
    unit_at,
)
from stages.text.times.context import Context, Rule
from stages.text.times.words import COUNT, DAYS, UNIT, UNITS, S, count_of, rule

if TYPE_CHECKING:
    import re
    from datetime import datetime

_BACK: Final = ("last", "previous", "past")
_FINER: Final = {Unit.HOUR: Unit.MINUTE, Unit.YEAR: Unit.MONTH, Unit.DECADE: Unit.YEAR}
_ROUND: Final = 2
_CLOCK_UNITS: Final = frozenset({Unit.SECOND, Unit.MINUTE, Unit.HOUR})
_ABOUT: Final = (
    rf"(?:(?P<about>about|around|almost|nearly|over|roughly|maybe|like|approximately|more{S}than|less{S}than"
    rf"|at{S}least){S})?"
)
# "Two", "2-3", "two or three", "two and a half" units; "a day or two".
_AMOUNT: Final = (
    rf"(?P<count>{COUNT})(?:\s?(?:-|\u2013|or|to)\s?(?P<most>{COUNT}))?(?P<half>{S}and{S}a{S}half)?"
    rf"{S}(?P<unit>{UNIT})(?:(?P<later>{S}and{S}a{S}half)|{S}or{S}(?P<two>two|so))?"
)


def _amount(match: re.Match[str]) -> tuple[float, float]:
    low, high = count_of(match["count"])
    high = count_of(match["most"])[1] if match["most"] else high
    if match["half"] or match["later"]:
        low, high = low + 0.5, high + 0.5
    if match["two"] and match["two"].lower() == "two":
        high = low + 1
    return min(low, high), max(low, high)


def _vague(match: re.Match[str], unit: Unit, low: float, high: float) -> bool:
    return low != high or unit is Unit.DECADE or bool(match["about"] or match["two"])


def _away(now: datetime, unit: Unit, low: float, high: float) -> Stretch:
    """Return the calendar units from ``low`` to ``high`` units away; a half is told in the finer unit."""
    if unit is Unit.DECADE:
        # "A decade ago" is a round number of years, not the nineties or the noughties.
        near, far = sorted((10 * low, 10 * high))
        return _away(now, Unit.YEAR, near - _ROUND, far + _ROUND)._replace(vague=True)
    if low != int(low):
        return unit_at(now + delta(unit, low), _FINER.get(unit, Unit.DAY))
    first, last = sorted((unit_at(now, unit, int(low)), unit_at(now, unit, int(high))))
    return Stretch(first.start, last.end, first.grain)


def _ago(match: re.Match[str], context: Context) -> Stretch:
    unit = UNITS[match["unit"].lower()]
    low, high = _amount(match)
    if match["day"]:
        return unit_at(context.now + DAYS[match["day"].lower()] * DAY - delta(unit, low), Unit.DAY)
    return _away(context.now, unit, -low, -high)._replace(vague=_vague(match, unit, low, high))


def _long_ago(match: re.Match[str], context: Context) -> Stretch:
    return _away(context.now, UNITS[match["unit"].lower()], -2, -10)._replace(vague=True)


def _in(match: re.Match[str], context: Context) -> Stretch | None:
    unit = UNITS[match["unit"].lower()]
    toward = context.toward(*match.span())
    single = match["count"].lower() in {"a", "an", "one", "1"}
    # "In a minute" is an idiom, "twice in a year" and "it was done in two days" tell how long, not when.
    if unit in {Unit.SECOND, Unit.MINUTE} and single:
        return None
    if toward is Toward.PAST or (toward is Toward.NEAR and single and unit not in _CLOCK_UNITS):
        return None
    return _from_now(match, context)


def _from_now(match: re.Match[str], context: Context) -> Stretch:
    unit = UNITS[match["unit"].lower()]
    low, high = _amount(match)
    return _away(context.now, unit, low, high)._replace(vague=_vague(match, unit, low, high))


def _until_now(now: datetime, unit: Unit, count: float) -> tuple[datetime, datetime]:
    if unit in _CLOCK_UNITS:
        end = floor(now, Unit.MINUTE) + delta(Unit.MINUTE, 1)
        return floor(now, Unit.MINUTE) - delta(unit, count), end
    return midnight(now) - delta(unit, count), midnight(now) + DAY


def _lasting(match: re.Match[str], context: Context) -> Stretch | None:
    unit = UNITS[match["unit"].lower()]
    until_now = match["now"] or match["been"] or context.lasts_until_now(*match.span())
    if unit is Unit.SECOND or not until_now or not (match["for"] or match["now"] or match["been"]):
        return None
    low, high = _amount(match)
    start, end = _until_now(context.now, unit, high)
    return Stretch(start, end, grain_of(unit), vague=_vague(match, unit, low, high))


def _rolling(match: re.Match[str], context: Context) -> Stretch:
    low, high = count_of(match["count"])
    return rolled(context.now, UNITS[match["unit"].lower()], match["way"].lower(), high)._replace(vague=low != high)


def rolled(now: datetime, unit: Unit, way: str, count: float) -> Stretch:
    """Return the stretch of ``count`` units up to the end of today ("past", "last") or from its start on."""
    if way in _BACK:
        start, end = _until_now(now, unit, count)
    else:
        start = floor(now, Unit.MINUTE) if unit in _CLOCK_UNITS else midnight(now)
        end = start + delta(unit, count)
    return Stretch(start, end, grain_of(unit))


_UNITS: Final = frozenset(UNITS)
COUNTED: Final = (
    Rule(
        frozenset({"ago", "back"}),
        rule(rf"{_ABOUT}{_AMOUNT}{S}(?:ago|back(?!{S}(?:to|at|in|from|home)\b))(?:{S}(?P<day>today|yesterday))?"),
        _ago,
        also=_UNITS,
    ),
    Rule(frozenset({"ago"}), rule(rf"(?<![0-9]\s)(?P<unit>days|weeks|months|years|decades){S}ago"), _long_ago),
    Rule(
        frozenset({"in"}),
        rule(rf"in{S}{_ABOUT}{_AMOUNT}(?:['\u2019]?s?{S}time)?(?!{S}(?:of|a)\b)"),
        _in,
        also=_UNITS,
    ),
    Rule(
        frozenset({"from"}),
        rule(rf"{_ABOUT}{_AMOUNT}{S}from{S}(?:now|today)"),
        _from_now,
        also=frozenset({"now", "today"}),
    ),
    Rule(
        frozenset({"for", "now", "been"}),
        rule(
            rf"(?:(?P<for>for){S}|(?P<been>(?:(?<=['\u2019]s\s)|(?<=has\s))been){S})?"
            rf"{_ABOUT}{_AMOUNT}(?P<now>{S}(?:now|already))?(?!{S}(?:of|ago|since|later|before|after)\b)"
        ),
        _lasting,
        also=_UNITS,
    ),
    Rule(
        frozenset({"last", "past", "previous", "next", "coming"}),
        rule(
            rf"(?:(?:the|these|this){S})?(?P<way>last|past|previous|next|coming){S}(?P<count>{COUNT}){S}"
            rf"(?P<unit>{UNIT})(?!{S}of\b)"
        ),
        _rolling,
        also=_UNITS,
    ),
)
