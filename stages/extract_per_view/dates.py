"""Intervals as people write them, to stand behind the phrase that they resolve."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from schemas.interval import Grain, Interval, TimeMention

_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_FORMATS = {
    Grain.MINUTE: "%Y-%m-%d %H:%M",
    Grain.HOUR: "%Y-%m-%d %H:%M",
    Grain.MONTH: "%Y-%m",
    Grain.YEAR: "%Y",
}
_ORDER = {grain: place for place, grain in enumerate(Grain)}
_TICK = timedelta(microseconds=1)


def shown(mention: TimeMention) -> str | None:
    """Return the absolute form of a temporal expression, or ``None`` if the phrase names its year itself."""
    if _YEAR.search(mention.phrase):
        return None
    return absolute(mention.interval)


def absolute(interval: Interval) -> str:
    """Return an interval as ISO dates in its own grain: a day, a month, a year, or "first to last"."""
    form = _FORMATS.get(interval.grain, "%Y-%m-%d")
    first = interval.start.strftime(form)
    last = _last(interval).strftime(form)
    text = first if first == last or interval.grain in {Grain.MINUTE, Grain.HOUR} else f"{first} to {last}"
    return f"about {text}" if interval.vague else text


def _last(interval: Interval) -> datetime:
    return interval.end - _TICK


def finest(mentions: tuple[TimeMention, ...]) -> Interval | None:
    """Return the interval that says most: the finest grain, not vague before vague, the first of equals."""
    ranked = sorted(mentions, key=lambda mention: (mention.interval.vague, _ORDER[mention.interval.grain]))
    return ranked[0].interval if ranked else None
