"""Calendar arithmetic under the time expressions: stretches of wall-clock time around a moment.

Everything here is naive wall-clock time in the offset of the turn. A week starts on Monday (ISO 8601); a
weekend is the Saturday and Sunday of such a week; seasons are the meteorological ones of the northern
hemisphere (summer is June to August). Each function raises ``ValueError`` or ``OverflowError`` where the
calendar ends (years 1 to 9999) or a date does not exist; the caller drops such a mention.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from dateutil.relativedelta import relativedelta

from schemas.interval import Grain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)


class Stretch(NamedTuple):
    """A half-open stretch ``[start, end)`` of naive wall-clock time."""

    start: datetime
    end: datetime
    grain: Grain
    vague: bool = False


class Unit(StrEnum):
    """A unit that people count time in."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    FORTNIGHT = "fortnight"
    MONTH = "month"
    YEAR = "year"
    DECADE = "decade"


class Toward(StrEnum):
    """Which occurrence of something that recurs ("June", "Friday", "Christmas") is meant."""

    LAST = "last"
    PAST = "past"
    THIS = "this"
    NEAR = "near"
    FUTURE = "future"
    NEXT = "next"


_GRAIN: Final = {
    Unit.SECOND: Grain.MINUTE,
    Unit.MINUTE: Grain.MINUTE,
    Unit.HOUR: Grain.HOUR,
    Unit.DAY: Grain.DAY,
    Unit.WEEK: Grain.WEEK,
    # As a morning is made of hours, a weekend is made of days.
    Unit.WEEKEND: Grain.DAY,
    Unit.FORTNIGHT: Grain.WEEK,
    Unit.MONTH: Grain.MONTH,
    Unit.YEAR: Grain.YEAR,
    Unit.DECADE: Grain.YEAR,
}
_MONTHS_OF_YEAR: Final = 12
_FIRST_MONTH: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Hours of the turn's day; a night runs into the next day.
_PART: Final = {
    "morning": (5, 12),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
    "noon": (12, 13),
    "midday": (12, 13),
}


def midnight(moment: datetime) -> datetime:
    """Return the start of the day of ``moment``."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def delta(unit: Unit, count: float) -> relativedelta:
    """Return ``count`` units as calendar arithmetic; halves are taken in the next finer unit."""
    if unit in {Unit.YEAR, Unit.DECADE}:
        months = count * (120 if unit is Unit.DECADE else 12)
        return relativedelta(months=int(months))
    if unit is Unit.MONTH:
        return relativedelta(months=int(count), days=round((count - int(count)) * 30))
    seconds = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600, Unit.DAY: 86_400}
    weeks = 2 if unit is Unit.FORTNIGHT else 1
    return relativedelta(seconds=round(count * seconds.get(unit, weeks * 604_800)))


def floor(moment: datetime, unit: Unit) -> datetime:
    """Return the start of the calendar unit that holds ``moment``."""
    if unit in {Unit.SECOND, Unit.MINUTE}:
        return moment.replace(second=0, microsecond=0)
    if unit is Unit.HOUR:
        return moment.replace(minute=0, second=0, microsecond=0)
    day = midnight(moment)
    if unit in {Unit.WEEK, Unit.WEEKEND, Unit.FORTNIGHT}:
        return day - day.weekday() * DAY + (5 * DAY if unit is Unit.WEEKEND else timedelta())
    if unit is Unit.MONTH:
        return day.replace(day=1)
    if unit is Unit.YEAR:
        return day.replace(month=1, day=1)
    return day.replace(year=day.year // 10 * 10, month=1, day=1) if unit is Unit.DECADE else day


def unit_at(moment: datetime, unit: Unit, count: int = 0) -> Stretch:
    """Return the calendar unit that lies ``count`` units from the one that holds ``moment``."""
    start = floor(moment, unit) + delta(unit, count)
    # Seconds are told by the minute, the finest grain there is.
    start = floor(start, unit) if unit is Unit.SECOND else start
    length = {Unit.WEEKEND: 2 * DAY, Unit.SECOND: timedelta(minutes=1)}.get(unit)
    return Stretch(start, start + (length or delta(unit, 1)), _GRAIN[unit])


def grain_of(unit: Unit) -> Grain:
    """Return the grain that ``unit`` speaks in."""
    return _GRAIN[unit]


def fraction(whole: Stretch, index: int, parts: int) -> Stretch:
    """Return one of the equal ``parts`` of ``whole`` ("early", "mid", "late"; halves), its edges vague.

    A year is cut, and told, in months; more years in years; anything shorter in days.
    """
    months = (whole.end.year - whole.start.year) * 12 + whole.end.month - whole.start.month
    if months >= _MONTHS_OF_YEAR:
        start, end = (whole.start + relativedelta(months=months * edge // parts) for edge in (index, index + 1))
        return Stretch(start, end, Grain.MONTH if months == _MONTHS_OF_YEAR else Grain.YEAR, vague=True)
    step = max(1, (whole.end - whole.start) // DAY // parts) * DAY
    start = whole.start + index * step
    return Stretch(start, whole.end if index == parts - 1 else start + step, Grain.DAY, vague=True)


def year_of(year: int) -> Stretch:
    """Return a calendar year."""
    return Stretch(datetime(year, 1, 1), datetime(year + 1, 1, 1), Grain.YEAR)  # noqa: DTZ001 - naive


def month_of(year: int, month: int) -> Stretch:
    """Return a calendar month."""
    start = datetime(year, month, 1)  # noqa: DTZ001 - naive by design
    return Stretch(start, (start + 31 * DAY).replace(day=1), Grain.MONTH)


def day_of(year: int, month: int, day: int, last: int | None = None) -> Stretch:
    """Return a day, or the days from ``day`` to ``last`` of one month."""
    start = datetime(year, month, day)  # noqa: DTZ001 - naive by design
    return Stretch(start, start.replace(day=last or day) + DAY, Grain.DAY)


def season_of(year: int, name: str) -> Stretch:
    """Return the season ``name`` that starts in ``year``."""
    start = datetime(year, _FIRST_MONTH[name], 1)  # noqa: DTZ001 - naive by design
    return Stretch(start, start + relativedelta(months=3), Grain.SEASON)


def part_of(day: datetime, name: str) -> Stretch:
    """Return the part ``name`` (morning, afternoon, evening, night, noon) of the day of ``day``."""
    first, last = _PART[name]
    start = midnight(day)
    return Stretch(start + timedelta(hours=first), start + timedelta(hours=last), Grain.HOUR)


def choose(candidates: Iterator[Stretch], now: datetime, toward: Toward) -> Stretch | None:
    """Pick the occurrence that ``toward`` means, seen from ``now``; None where there is none."""
    today = midnight(now)
    found = list(candidates)
    if toward in {Toward.LAST, Toward.PAST}:
        edge = [one for one in found if (one.end <= today if toward is Toward.LAST else one.start <= now)]
        return max(edge, default=None)
    if toward in {Toward.NEXT, Toward.FUTURE}:
        edge = [one for one in found if (one.start > now if toward is Toward.NEXT else one.end > now)]
        return min(edge, default=None)
    return min(found, key=lambda one: max(one.start - today, today - one.end, timedelta()), default=None)


def yearly(make: Callable[[int], Stretch], now: datetime, toward: Toward, reach: int = 2) -> Stretch | None:
    """Pick among the occurrences of something that recurs each year, such as a month or a holiday.

    ``reach`` is how many years either side are looked at: two, as a season may run into the next year.
    """
    if toward is Toward.THIS:
        return make(now.year)

    def around() -> Iterator[Stretch]:
        for year in range(now.year - reach, now.year + reach + 1):
            try:
                yield make(year)
            except (ValueError, OverflowError):
                continue

    return choose(around(), now, toward)


def weekday(index: int, now: datetime, toward: Toward) -> Stretch | None:
    """Pick a day of the week (Monday is 0); ``LAST`` and ``PAST`` lie before today.

    ``NEXT`` is the day in the coming week: on a Monday, "next Friday" is eleven days away.
    """
    today = midnight(now)
    same = today + (index - today.weekday()) * DAY
    if toward in {Toward.LAST, Toward.PAST}:
        start = same if same < today else same - WEEK
    elif toward is Toward.NEXT:
        start = same + WEEK
    else:
        start = same if same >= today else same + WEEK
    return Stretch(start, start + DAY, Grain.DAY)
