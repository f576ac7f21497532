"""The holidays that people date things by, and the day on which each falls.

Thanksgiving, Labor Day and the like are those of the USA; Easter is the western one.
"""

from __future__ import annotations

from typing import Final

from dateutil.easter import easter

from stages.text.times.calendar import DAY, WEEK, Stretch, day_of, month_of

# The Nth weekday (Monday is 0) of a month, N from 1, or -1 for the last.
_NTH: Final = {
    "thanksgiving": (11, 3, 4, 0),
    "black friday": (11, 3, 4, 1),
    "cyber monday": (11, 3, 4, 4),
    "labor day": (9, 0, 1, 0),
    "memorial day": (5, 0, -1, 0),
    "mother's day": (5, 6, 2, 0),
    "father's day": (6, 6, 3, 0),
}
_FIXED: Final = {
    "christmas": (12, 25),
    "xmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
    "st patrick's day": (3, 17),
    "st. patrick's day": (3, 17),
    "new year's": (1, 1),
    "new year's day": (1, 1),
    "new year's eve": (12, 31),
    "new years eve": (12, 31),
    "independence day": (7, 4),
    "veterans day": (11, 11),
}
_EASTER: Final = {"easter": 0, "easter sunday": 0, "easter monday": 1, "good friday": -2}
HOLIDAYS: Final = frozenset(_NTH) | frozenset(_FIXED) | frozenset(_EASTER)


def holiday_in(name: str, year: int) -> Stretch:
    """Return the day of the holiday ``name`` (one of ``HOLIDAYS``) in ``year``."""
    if name in _FIXED:
        return day_of(year, *_FIXED[name])
    if name in _EASTER:
        sunday = easter(year)
        found = day_of(year, sunday.month, sunday.day)
        return Stretch(found.start + _EASTER[name] * DAY, found.end + _EASTER[name] * DAY, found.grain)
    month, day, nth, beyond = _NTH[name]
    return nth_weekday(month_of(year, month), day, nth, beyond)


def nth_weekday(month: Stretch, day: int, nth: int, beyond: int = 0) -> Stretch:
    """Return the ``nth`` ``day`` of a stretch (-1 for its last), moved on by ``beyond`` days."""
    if nth > 0:
        start = month.start + ((day - month.start.weekday()) % 7) * DAY + (nth - 1) * WEEK
    else:
        final = month.end - DAY
        start = final - ((final.weekday() - day) % 7) * DAY
    found = day_of(start.year, start.month, start.day)
    return Stretch(found.start + beyond * DAY, found.end + beyond * DAY, found.grain)
