"""Expressions made of expressions: "since early 2020", "the Friday before Christmas"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.interval import Grain
from stages.text.times.calendar import (
    DAY,
    WEEK,
    Stretch,
    Toward,
    Unit,
    delta,
    fraction,
    grain_of,
    part_of,
    unit_at,
    weekday,
)
from stages.text.times.holidays import nth_weekday
from stages.text.times.words import (
    COUNT,
    EDGE,
    LONG_WEEKDAY,
    ORDER,
    ORDINALS,
    PART,
    UNIT,
    UNITS,
    WEEKDAYS,
    S,
    count_of,
    edge_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from stages.text.times.context import Context

# No lead is longer than this, so that looking back from an expression costs the same in any text.
REACH: Final = 48
STARTS: Final = r"(?<![\w'\u2019/.-])"


class Found(NamedTuple):
    """An expression at ``[start, end)`` of the text; ``cycle`` as in a rule."""

    start: int
    end: int
    stretch: Stretch
    cycle: str = ""


def _lead(pattern: str) -> re.Pattern[str]:
    return re.compile(STARTS + pattern, re.IGNORECASE)


def _edge(match: re.Match[str], anchor: Stretch, _today: Stretch) -> Stretch | None:
    # "Early tomorrow" says no more than "tomorrow" does.
    return fraction(anchor, *edge_of(match["edge"])) if anchor.end - anchor.start > 3 * DAY else None


def _beside(match: re.Match[str], anchor: Stretch, _today: Stretch) -> Stretch | None:
    name, way = match["what"].lower(), match["way"].lower()
    if way == "of":
        return _held(name, anchor)
    before = way in {"before", "prior to"}
    edge = anchor.start if before else anchor.end
    if name in WEEKDAYS:
        toward = Toward.LAST if before else Toward.FUTURE
        return weekday(WEEKDAYS[name], edge, toward)
    if name not in UNITS:
        return part_of(edge - DAY if before else edge, name)
    unit = UNITS[name]
    if unit is Unit.WEEKEND:
        own = unit_at(edge, unit)
        return own if (own.start < edge) == before else unit_at(edge, unit, -1 if before else 1)
    first, last = (edge - delta(unit, 1), edge) if before else (edge, edge + delta(unit, 1))
    return Stretch(first, last, grain_of(unit), anchor.vague)


def _held(name: str, anchor: Stretch) -> Stretch | None:
    """Return the week, weekend or part of the day that an expression lies in ("the week of July 3").

    A day of the week lies in the expression instead ("Friday of next week").
    """
    if name in WEEKDAYS and anchor.grain is Grain.WEEK:
        return weekday(WEEKDAYS[name], anchor.start, Toward.FUTURE)
    if name in {"week", "weekend"} and anchor.grain is Grain.DAY:
        return unit_at(anchor.start, UNITS[name])
    return part_of(anchor.start, name) if name not in UNITS and name not in WEEKDAYS else None


def _away(match: re.Match[str], anchor: Stretch, _today: Stretch) -> Stretch:
    unit = UNITS[match["unit"].lower()]
    low, high = count_of(match["count"])
    sign = -1 if match["way"].lower() == "before" else 1
    first, last = sorted(unit_at(anchor.start, unit, int(sign * count)) for count in (low, high))
    return Stretch(first.start, last.end, first.grain, vague=low != high)


def _nth(match: re.Match[str], anchor: Stretch, _today: Stretch) -> Stretch | None:
    what = match["what"].lower()
    nth = ORDINALS[match["nth"].lower()]
    nth = -1 if nth == len(set(ORDINALS.values())) else nth
    if anchor.end - anchor.start < 2 * WEEK:
        return None
    if what in WEEKDAYS:
        return nth_weekday(anchor, WEEKDAYS[what], nth)
    if what == "weekend":
        start = nth_weekday(anchor, 5, nth).start
        return Stretch(start, start + 2 * DAY, Grain.DAY)
    step, grain = (WEEK, Grain.WEEK) if what == "week" else (DAY, Grain.DAY)
    start = anchor.end - step if nth < 0 else anchor.start + (nth - 1) * step
    return Stretch(start, start + step, grain)


def _since(_match: re.Match[str], anchor: Stretch, today: Stretch) -> Stretch | None:
    return Stretch(anchor.start, today.end, anchor.grain, vague=True) if anchor.start < today.end else None


def _until(_match: re.Match[str], anchor: Stretch, today: Stretch) -> Stretch | None:
    return Stretch(today.start, anchor.end, anchor.grain, vague=True) if anchor.end > today.end else None


_BESIDE: Final = re.compile(rf"{S}(?:before|after|of|in){S}(?:the{S})?", re.IGNORECASE)
_Lead = tuple[re.Pattern[str], "Callable[[re.Match[str], Stretch, Stretch], Stretch | None]"]
_LEADS: Final[tuple[_Lead, ...]] = (
    (_lead(rf"(?P<edge>early|mid|late)(?:{S}in)?(?:{S}the)?[\s-]\Z"), _edge),
    (_lead(rf"(?:the{S})?(?:very{S})?(?P<edge>{EDGE}){S}of{S}(?:the{S})?\Z"), _edge),
    (
        _lead(
            rf"(?:the{S})?(?P<what>day|week|weekend|month|year|{PART}|{LONG_WEEKDAY}){S}"
            rf"(?P<way>before|after|of|prior{S}to|following){S}(?:the{S})?\Z"
        ),
        _beside,
    ),
    (_lead(rf"(?P<count>{COUNT}){S}(?P<unit>{UNIT}){S}(?P<way>before|after){S}\Z"), _away),
    (
        _lead(rf"(?:the{S})?(?P<nth>{ORDER}){S}(?P<what>day|week|weekend|{LONG_WEEKDAY}){S}(?:of|in){S}(?:the{S})?\Z"),
        _nth,
    ),
    (_lead(rf"(?:ever{S})?since{S}(?:about{S}|around{S})?(?:the{S})?\Z"), _since),
    (_lead(rf"(?:until|till|'til){S}(?:the{S})?\Z"), _until),
)


def with_leads(found: Found, context: Context, floor: int) -> Found:
    """Take into ``found`` the words before it that change what it means, no further back than ``floor``."""
    # "Since the beginning of the week of July 3" is as deep as people nest.
    for _ in range(3):
        longer = _with_lead(found, context, floor)
        if longer is None:
            return found
        found = longer
    return found


def with_all_leads(found: list[Found], context: Context) -> list[Found]:
    """Give each expression its leads; "the Friday before Christmas" takes in the Friday found before it.

    So does "the first Monday of August".
    """
    grown: list[Found] = []
    for one in found:
        previous = grown[-1] if grown else None
        floor = previous.end if previous else 0
        if previous and previous.cycle == "week" and _BESIDE.fullmatch(context.text, previous.end, one.start):
            floor = grown[-2].end if len(grown) > 1 else 0
        longer = with_leads(one, context, floor)
        if previous and longer.start < previous.end:
            grown.pop()
        grown.append(longer)
    return grown


def _with_lead(found: Found, context: Context, floor: int) -> Found | None:
    start = max(floor, found.start - REACH)
    for pattern, resolve in _LEADS:
        match = pattern.search(context.text, start, found.start)
        stretch = match and _quietly(resolve, match, found.stretch, context)
        if match and stretch:
            return Found(match.start(), found.end, stretch, found.cycle)
    return None


def _quietly(
    resolve: Callable[[re.Match[str], Stretch, Stretch], Stretch | None],
    match: re.Match[str],
    anchor: Stretch,
    context: Context,
) -> Stretch | None:
    try:
        return resolve(match, anchor, unit_at(context.now, Unit.DAY))
    except (ValueError, OverflowError):
        return None
