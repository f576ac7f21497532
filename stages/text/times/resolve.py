"""The times that a text speaks of, as intervals around the moment when it was said.

English is read by the rules of the modules beside this one; written-out dates and the commonest relative
expressions of nine other languages by dateparser. What an expression means:

- "last week", "two months ago", "in three years": the whole calendar week (Monday to Sunday), month or year
  that lies so many away from the turn's own. "Two weeks ago" on Thursday 25 May is 8 to 14 May.
- "the past two weeks", "the next few days", "for three years": a stretch that ends or starts with the turn's
  day. A duration is resolved only where it lasts until the turn ("I've known her for three years").
- "June", "Friday", "May 5", "Christmas" without a year: the latest or the next one, by the tense of the
  clause; with no cue the nearest one (a weekday: the next one).
- "a few days ago", "recently", "since 2016": widest sensible edges, marked vague.
- A night runs from 18:00 to 06:00, a morning from 05:00, an afternoon from 12:00, an evening from 18:00;
  seasons are those of the northern hemisphere; between strokes the month comes first (5/7/2023 is 7 May).

All intervals have the fixed UTC offset that the turn had: nothing here depends on a time zone's rules, the
clock, the locale or the environment.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from schemas.interval import Interval, TimeMention
from schemas.span import Span
from stages.text.times.context import Context, Rule, phrase_span
from stages.text.times.counted import COUNTED
from stages.text.times.dates import DATES
from stages.text.times.foreign import FOREIGN
from stages.text.times.gate import places, windows
from stages.text.times.joins import with_clock, with_ranges
from stages.text.times.leads import Found, with_all_leads
from stages.text.times.named import NAMED
from stages.text.times.relative import RELATIVE

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    from stages.text.times.calendar import Stretch

_RULES: Final = (*RELATIVE, *COUNTED, *NAMED, *DATES, *FOREIGN)
_WORDS: Final = frozenset[str]().union(*(each.words | each.also for each in _RULES))
_BY_WORD: Final = {word: tuple(index for index, each in enumerate(_RULES) if word in each.words) for word in _WORDS}
# A date that does not exist, or one beyond the years 1 to 9999.
_NO_SUCH_TIME: Final = (ValueError, OverflowError)


def resolve_times(text: str, at: datetime) -> tuple[TimeMention, ...]:
    """Find the temporal expressions of ``text`` and resolve each around ``at``, the moment it was said.

    Returns the mentions in the order of the text; their spans (code points) do not overlap, each phrase is
    the text of its span, and each interval ``[start, end)`` has the UTC offset of ``at``. An expression that
    has no place in the calendar ("30 February", a time after year 9999) is left out.

    Raises:
        ValueError: if ``at`` has no UTC offset.

    """
    offset = at.utcoffset()
    if offset is None:
        msg = "resolve_times needs a datetime with a UTC offset"
        raise ValueError(msg)
    where = places(text, _WORDS)
    if not where:
        return ()
    context = Context(text, at.replace(tzinfo=None), timezone(offset))
    # In the order of the rules: the sort below keeps it where two begin and end alike.
    tried = sorted({index for word in where for index in _BY_WORD.get(word, ())})
    single = _apart(found for index in tried for found in _tried(_RULES[index], context, where))
    return tuple(_mention(found, context) for found in _composed(single, context))


def _tried(each: Rule, context: Context, where: dict[str, list[int]]) -> Iterable[Found]:
    for start, end in windows(each, where, context.text):
        yield from _matched(each, context, start, end)


def _matched(each: Rule, context: Context, start: int, end: int) -> Iterable[Found]:
    for match in each.pattern.finditer(context.text, start, end):
        try:
            stretch = each.resolve(match, context)
        except _NO_SUCH_TIME:
            continue
        if stretch is not None and stretch.start < stretch.end:
            yield Found(*phrase_span(match), stretch, _cycle(match, each))


def _cycle(match: re.Match[str], each: Rule) -> str:
    """Return how what a match names comes round again: not at all where it has its year with it."""
    named = match.groupdict() if each.cycle == "year" else {}
    return "" if named.get("year") or named.get("which") else each.cycle


def _apart(found: Iterable[Found]) -> list[Found]:
    """Keep of expressions that overlap the one that starts first, and of those the longest."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _composed(found: list[Found], context: Context) -> list[Found]:
    floor = 0
    clocked: list[Found] = []
    for one in found:
        # The clock of the one before may have covered this.
        if one.start >= floor:
            clocked.append(_safely(one, context, floor))
            floor = clocked[-1].end
    return with_all_leads(with_ranges(clocked, context.text), context)


def _safely(one: Found, context: Context, floor: int) -> Found:
    try:
        return with_clock(one, context.text, floor)
    except _NO_SUCH_TIME:
        return one


def _mention(found: Found, context: Context) -> TimeMention:
    stretch: Stretch = found.stretch
    return TimeMention(
        phrase=context.text[found.start : found.end],
        span=Span(start=found.start, end=found.end),
        interval=Interval(
            start=stretch.start.replace(tzinfo=context.zone),
            end=stretch.end.replace(tzinfo=context.zone),
            grain=stretch.grain,
            vague=stretch.vague,
        ),
    )
