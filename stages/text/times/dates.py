"""Dates that are written out: "5 May 2023", "2023-05-05", "5/7/2023", "in 2016", "the 90s", "on the 15th"."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from schemas.interval import Grain
from stages.text.times.calendar import DAY, Stretch, Toward, choose, day_of, year_of, yearly
from stages.text.times.context import Context, Rule, phrase_span
from stages.text.times.named import year_meant
from stages.text.times.words import MONTH, MONTHS, POINT, VERB_MONTHS, WEEKDAY, YEAR, S, rule

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_DAY: Final = r"(?:3[01]|[12][0-9]|0?[1-9])"
_NTH: Final = r"(?:\s?(?:st|nd|rd|th))"
_WHICH: Final = rf"(?:of{S}|in{S})?(?P<which>last|this|next|previous){S}year"
_YEAR: Final = rf"(?:(?:,?\s{{0,2}}|{S}of{S}|-)(?P<year>{YEAR})(?![\w%]|[.,:/-]\d)|,?{S}{_WHICH})"
_LAST_DAY: Final = rf"(?:\s?(?:-|\u2013|\u2014|to|through)\s?(?:the{S})?(?P<last>{_DAY})(?P<nth2>{_NTH})?(?!\w))?"
_PREPOSITION: Final = ("on ", "by ", "since ", "until ", "till ", "before ", "after ", "from ", "of ", "for ")
_LEAP_DAY: Final = (2, 29)
_CLOSE: Final = timedelta(days=14)
# "2016 users" and "2000 steps" name no year; a verb, or the like, may end in s.
_PLURAL: Final = (
    rf"(?![\w%°]|[.,:/-]\d|{S}(?!(?:was|is|has|this|his|its|perhaps|always|as|across|because|us|yes)\b)"
    rf"[a-z]{{2,}}s\b|{S}dollars?\b)"
)
_TENS: Final = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_DECADES: Final = {name: 10 * tens for tens, name in enumerate(_TENS, start=2)}


def _date(match: re.Match[str], context: Context) -> Stretch | None:
    month, first = MONTHS[match["month"].lower()], int(match["day"])
    last = int(match["last"]) if match["last"] else None
    year = year_meant(match, context)
    if year is not None:
        return day_of(year, month, first, last)
    if not _surely_a_date(match):
        return None
    # Eight years either side reach a 29 February from any year, also across 1900 and 2100.
    reach = 8 if (month, first) == _LEAP_DAY else 1

    def pick(toward: Toward) -> Stretch | None:
        return yearly(lambda y: day_of(y, month, first, last), context.now, toward, reach)

    near = pick(Toward.NEAR)
    # Nobody gives the bare date of a day that comes round within two weeks for the one of a year ago.
    if near is None or abs(near.start - context.now) < _CLOSE:
        return near
    return pick(context.toward(*phrase_span(match)))


def _surely_a_date(match: re.Match[str]) -> bool:
    name = match["month"]
    if match["nth"] or match["nth2"] or not name.islower() or name not in VERB_MONTHS:
        return True
    start = match.start()
    return match.string[max(0, start - 8) : start].lower().endswith(_PREPOSITION)


def _iso(match: re.Match[str], context: Context) -> Stretch:
    day = day_of(int(match["y"]), int(match["m"]), int(match["d"]))
    if not match["hour"]:
        return day
    start = day.start.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    zone = match["zone"]
    if zone:
        start = start.replace(tzinfo=_offset(zone)).astimezone(context.zone).replace(tzinfo=None)
    return Stretch(start, start + timedelta(minutes=1), Grain.MINUTE)


def _offset(zone: str) -> timezone:
    if zone in "Zz":
        return timezone.utc  # noqa: UP017 - the same object, next to other fixed offsets
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if zone[0] == "-" else offset)


def _figures(match: re.Match[str], _context: Context) -> Stretch:
    """Read ``5/7/2023``: the month first between strokes, as in the USA, else the day first."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["y"])
    year += 2000 if year < 70 else 1900 if year < 100 else 0  # noqa: PLR2004 - as POSIX strptime reads %y
    month_first = (match["sep"] == "/" and first <= 12) or second > 12  # noqa: PLR2004 - months of a year
    month, day = (first, second) if month_first else (second, first)
    return day_of(year, month, day)


def _year(match: re.Match[str], _context: Context) -> Stretch:
    first = year_of(int(match["year"]))
    if not match["last"]:
        return first
    return Stretch(first.start, year_of(int(match["last"])).end, Grain.YEAR)


def _decade(match: re.Match[str], context: Context) -> Stretch:
    if match["year"]:
        start = int(match["year"])
    else:
        tens = _DECADES.get((match["name"] or "").lower()) or int(match["tens"] or 0)
        century = context.now.year // 100 * 100
        start = century + tens if century + tens <= context.now.year else century - 100 + tens
    return Stretch(year_of(start).start, year_of(start + 10).start, Grain.YEAR)


def _day_of_month(match: re.Match[str], context: Context) -> Stretch | None:
    number = int(match["day"])
    first = datetime(context.now.year, context.now.month, 1)  # noqa: DTZ001 - naive by design
    which = (match["mod"] or "").lower()
    if which:
        base = {"last": first - DAY, "next": first + 32 * DAY}.get(which, first)
        return day_of(base.year, base.month, number)

    def around() -> Iterator[Stretch]:
        # Two months either side: of two that follow one another, one has a 31st.
        for month in range(context.now.month - 3, context.now.month + 2):
            year = context.now.year + month // 12
            try:
                yield day_of(year, month % 12 + 1, number)
            except (ValueError, OverflowError):
                continue

    return choose(around(), context.now, context.toward(*phrase_span(match)))


_SINCE: Final = (
    rf"(?:in|since|until|till|by|during|of|from|before|after|around|back{S}in|early|mid|late|between|for|through"
    rf"|circa|year)(?:{S}(?:the{S})?(?:year{S})?|-)"
)
DATES: Final = (
    Rule(
        frozenset("#"),
        rule(
            rf"(?:from|between){S}(?P<year>{YEAR})(?:{S}(?:to|and|until|till|through){S}|\s?[-\u2013]\s?)"
            rf"(?P<last>{YEAR}){_PLURAL}"
        ),
        _year,
    ),
    Rule(
        frozenset(MONTHS),
        rule(
            rf"(?:{WEEKDAY},?{S}(?:the{S})?|this{S})?(?P<month>{MONTH}){POINT}"
            rf"(?:(?:{S}|-)(?:the{S})?|,?{S}on{S}the{S}(?=[0-9]{{1,2}}(?:st|nd|rd|th)))(?P<day>{_DAY})(?P<nth>{_NTH})?"
            rf"(?!\w|[:/]\d|,\d{{3}}\b(?!\d)){_LAST_DAY}{_YEAR}?(?![-.:]\d)"
        ),
        _date,
        "year",
    ),
    Rule(
        frozenset(MONTHS),
        rule(
            rf"(?:{WEEKDAY},?{S})?(?:the{S})?(?P<day>{_DAY})(?P<nth>{_NTH})?{_LAST_DAY}(?:{S}(?:of{S})?|-)"
            rf"(?P<month>{MONTH}){POINT}{_YEAR}?"
        ),
        _date,
        "year",
    ),
    Rule(
        frozenset("#"),
        rule(
            rf"(?P<y>{YEAR})(?P<sep>[-/])(?P<m>0?[1-9]|1[0-2])(?P=sep)(?P<d>{_DAY})"
            r"(?:(?:T|\s)(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
            r"\s?(?P<zone>Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])?)?(?![-.:_]\w)"
        ),
        _iso,
    ),
    Rule(
        frozenset("#"),
        rule(rf"(?P<a>{_DAY})(?P<sep>[/.-])(?P<b>{_DAY})(?P=sep)(?P<y>(?:19|20)[0-9]{{2}})(?![-.:_]\w)"),
        _figures,
    ),
    Rule(
        frozenset("#"),
        rule(rf"{_SINCE}(?P<core>(?P<year>{YEAR})(?:\s?[-\u2013]\s?(?P<last>{YEAR}))?){_PLURAL}"),
        _year,
    ),
    Rule(
        frozenset("#") | frozenset(_DECADES),
        rule(
            rf"(?:the{S}|(?:early|mid|late)[\s-])(?P<core>(?:(?P<year>(?:1[5-9]|20)[0-9]0)['\u2019]?s"
            rf"|['\u2019]?(?P<tens>[2-9]0)['\u2019]?s|(?P<name>{'|'.join(_DECADES)})))(?!{S}(?:°|degrees|percent))"
        ),
        _decade,
    ),
    Rule(
        frozenset("#"),
        rule(
            rf"(?:on|by|for|to|till|until|since|from|before|after){S}(?P<core>the{S}(?P<day>{_DAY})(?:st|nd|rd|th)"
            rf"(?:{S}of{S}(?P<mod>last|this|next|the){S}month|(?=\s?[.,;!?)]|\Z|{S}(?:and|at|but|for|we|i|so|is|was|after|before|with|when|because|as|in|from|to|till"
            rf"|until|instead)\b)))"
        ),
        _day_of_month,
    ),
)
