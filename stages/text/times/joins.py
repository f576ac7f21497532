"""Expressions that stand side by side and are one: "3pm tomorrow", "from Monday to Wednesday"."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from schemas.interval import Grain
from stages.text.times.calendar import DAY, WEEK, Stretch, midnight
from stages.text.times.leads import REACH, STARTS, Found
from stages.text.times.words import CLOCK, S

_CLOCK_AFTER: Final = re.compile(rf"(?:,?{S}(?:(?:at|around|by){S})?|,{S}?){CLOCK}", re.IGNORECASE)
_CLOCK_BEFORE: Final = re.compile(rf"{STARTS}(?:at{S})?{CLOCK},?{S}(?:on{S}|in{S}the{S})?(?:the{S})?\Z", re.IGNORECASE)
_NOON: Final = {"noon": 12, "midday": 12, "midnight": 0}


def with_clock(found: Found, text: str, floor: int) -> Found:
    """Take in a time of day that stands next to a day: "tomorrow at 3pm", "noon on Friday"."""
    stretch = found.stretch
    if stretch.grain not in {Grain.DAY, Grain.HOUR} or stretch.end - stretch.start > DAY or stretch.vague:
        return found
    after = _CLOCK_AFTER.match(text, found.end, found.end + REACH)
    before = _CLOCK_BEFORE.search(text, max(floor, found.start - REACH), found.start)
    match = after or before
    if match is None:
        return found
    start, end = (found.start, match.end()) if after else (match.start(), found.end)
    return Found(start, end, _at_clock(match, stretch), found.cycle)


def _at_clock(match: re.Match[str], day: Stretch) -> Stretch:
    if match["named"]:
        hour, minute = _NOON[match["named"].lower()], None
    elif match["half"]:
        hour, minute = int(match["hour"]) % 12 + 12 * (match["half"][0] in "pP"), match["minute"]
    else:
        hour, minute = int(match["hour24"]), match["minute24"]
        # "This evening 7:15" is not in the morning.
        hour += 12 if hour < _NOON["noon"] <= day.start.hour else 0
    start = midnight(day.start) + timedelta(hours=hour, minutes=int(minute or 0))
    length, grain = (timedelta(minutes=1), Grain.MINUTE) if minute else (timedelta(hours=1), Grain.HOUR)
    return Stretch(start, start + length, grain)


_FROM: Final = re.compile(rf"{STARTS}from{S}(?:the{S})?\Z", re.IGNORECASE)
_BETWEEN: Final = re.compile(rf"{STARTS}between{S}(?:the{S})?\Z", re.IGNORECASE)
# "Moved it from Monday to Wednesday" names two days, not the days from one to the other.
_MOVED: Final = re.compile(r"\b(?:mov|reschedul|chang|postpon|push|shift|bump|delay)\w*", re.IGNORECASE)
_TO: Final = re.compile(rf"(?:{S}(?:to|until|till|thru|through){S}(?:the{S})?|\s?[\u2013\u2014-]\s?)", re.IGNORECASE)
_THROUGH: Final = re.compile(rf"(?:{S}(?:thru|through){S}(?:the{S})?|\s?[\u2013\u2014]\s?|\s-\s)", re.IGNORECASE)
_AND: Final = re.compile(rf"{S}and{S}(?:the{S})?", re.IGNORECASE)


def with_ranges(found: list[Found], text: str) -> list[Found]:
    """Join "from A to B", "between A and B" and "A through B" into one expression."""
    joined: list[Found] = []
    for one in found:
        pair = joined and _range(joined[-1], one, text)
        if pair:
            joined[-1] = pair
        else:
            joined.append(one)
    return joined


def _range(first: Found, second: Found, text: str) -> Found | None:
    gap = second.start - first.end
    if not 0 < gap <= 16:  # noqa: PLR2004 - the longest link between two ends
        return None
    lead = _lead(first, second, text)
    stretch = _spanning(first, second) if lead is not None else None
    if stretch is None or lead is None:
        return None
    return Found(lead, second.end, stretch, second.cycle)


def _lead(first: Found, second: Found, text: str) -> int | None:
    """Return where the range of which these are the ends begins, None where they make none."""
    between = text[first.end : second.start]
    start = max(0, first.start - REACH)
    if _AND.fullmatch(between):
        match = _BETWEEN.search(text, start, first.start)
        return match.start() if match else None
    if not _TO.fullmatch(between):
        return None
    match = _FROM.search(text, start, first.start)
    if match:
        return None if _MOVED.search(text, start, first.start) else match.start()
    dated = "week" not in {first.cycle, second.cycle} and first.stretch.grain is second.stretch.grain
    return first.start if dated or _THROUGH.fullmatch(between) else None


def _spanning(first: Found, second: Found) -> Stretch | None:
    start, end = first.stretch.start, second.stretch.end
    try:
        if first.cycle == "year" and not second.cycle:
            # "November 1 - January 15, 2024": the first takes the last year in which it comes before.
            start += relativedelta(year=end.year)
            start -= relativedelta(years=0 if start < end else 1)
        elif second.cycle == "year" and end <= start:
            end += relativedelta(year=start.year)
            end += relativedelta(years=0 if start < end else 1)
        elif second.cycle and end <= start:
            end += WEEK
    except (ValueError, OverflowError):
        return None
    order = list(Grain)
    grain = min(first.stretch.grain, second.stretch.grain, key=order.index)
    vague = first.stretch.vague or second.stretch.vague
    return Stretch(start, end, grain, vague) if start < end else None
