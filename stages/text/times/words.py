"""The English words of time, and the pieces of pattern that the rules are built from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from stages.text.times.calendar import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable

MONTHS: Final = {
    name: index
    for index, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
# Names that are also words or people's names, and every abbreviation: alone they say nothing.
_SHORT: Final = 4
WEAK_MONTHS: Final = frozenset({"march", "april", "may", "june", "august"} | {m for m in MONTHS if len(m) <= _SHORT})
# Weak even before a number when in small letters: "you may 5 times", "we march 5 miles".
VERB_MONTHS: Final = frozenset({"march", "may", "mar", "dec", "sep"})
WEEKDAYS: Final = {
    name: index
    for index, names in enumerate(
        (
            ("monday", "mon"),
            ("tuesday", "tues", "tue"),
            ("wednesday", "weds", "wed"),
            ("thursday", "thurs", "thur", "thu"),
            ("friday", "fri"),
            ("saturday", "sat"),
            ("sunday", "sun"),
        )
    )
    for name in names
}
DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "tomorow": 1}
SEASONS: Final = ("spring", "summer", "autumn", "fall", "winter")
PARTS: Final = ("morning", "afternoon", "evening", "night")

UNITS: Final = (
    {unit.value: unit for unit in Unit}
    | {f"{unit.value}s": unit for unit in Unit}
    | dict.fromkeys(("sec", "secs"), Unit.SECOND)
    | dict.fromkeys(("min", "mins"), Unit.MINUTE)
    | dict.fromkeys(("hr", "hrs"), Unit.HOUR)
    | dict.fromkeys(("wk", "wks"), Unit.WEEK)
    | dict.fromkeys(("mo", "mos"), Unit.MONTH)
    | dict.fromkeys(("yr", "yrs"), Unit.YEAR)
)
_TENS: Final = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_ONES: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
NUMBERS: Final = {
    **{word: index for index, word in enumerate((*_ONES, *_TEENS)) if index},
    **_TENS,
    **{f"{tens}-{_ONES[one]}": value + one for tens, value in _TENS.items() for one in range(1, 10)},
    "a": 1,
    "an": 1,
    "hundred": 100,
}
# What an open count stands for: the fewest and the most that a listener would accept.
OPEN_COUNTS: Final = {
    "couple": (2, 3),
    "few": (2, 5),
    "several": (3, 7),
    "some": (2, 7),
    "many": (5, 20),
    "": (2, 10),
}
ORDINALS: Final = {
    name: index
    for index, names in enumerate(
        (("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"), ("last",)), start=1
    )
    for name in names
}

# At most three white characters between two words, so that no pattern here can run away on a long blank;
# an empty line ends what is said.
S: Final = r"\s{1,3}(?<!\n\n)"


def either(words: Iterable[str]) -> str:
    """Return a group that matches any of ``words``, the longest first."""
    names = sorted(words, key=len, reverse=True)
    return "(?:" + "|".join(map(re.escape, names)) + ")"


MONTH: Final = either(MONTHS)
# "Sept. 5": the point belongs to the name only before a figure.
POINT: Final = r"(?:\.(?=\s?[0-9]))?"
WEEKDAY: Final = either(WEEKDAYS)
LONG_WEEKDAY: Final = either(name for name in WEEKDAYS if name.endswith("day"))
SEASON: Final = either(SEASONS)
PART: Final = either(PARTS)
UNIT: Final = either(UNITS)
COUNT: Final = (
    rf"(?:(?:a{S})?couple(?:{S}of)?|(?:an?{S})?(?:very{S})?few|several|some|many|half{S}an?|a{S}hundred"
    rf"|[0-9]{{1,4}}(?:\.[0-9])?|{either(NUMBERS)})"
)
ORDER: Final = either(ORDINALS)
EDGE: Final = r"(?:beginning|start|middle|end|first\s{1,3}half|second\s{1,3}half)"
YEAR: Final = r"(?:1[5-9]|20|21)[0-9]{2}"
MOD: Final = r"(?:this\s{1,3}past|this\s{1,3}coming|last|past|previous|this|next|coming|upcoming)"
CLOCK: Final = (
    r"(?:(?P<hour>[01]?[0-9]|2[0-3])(?:[:.](?P<minute>[0-5][0-9]))?\s?(?P<half>[ap]m\b|[ap]\.m\.)"
    r"|(?P<hour24>[01]?[0-9]|2[0-3]):(?P<minute24>[0-5][0-9])(?![:\d])|(?P<named>noon|midday|midnight)\b)"
)


def count_of(words: str) -> tuple[float, float]:
    """Return the least and the most that a count stands for: ``"two"`` is (2, 2), ``"a few"`` (2, 5)."""
    low = re.sub(r"\s+", " ", words.lower()).strip()
    for name, bounds in OPEN_COUNTS.items():
        if name and name in low:
            return bounds
    if low.startswith("half"):
        return 0.5, 0.5
    last = low.rsplit(" ", 1)[-1]
    exact = float(NUMBERS[last]) if last in NUMBERS else float(last)
    return exact, exact


def edge_of(words: str) -> tuple[int, int]:
    """Return which part of how many a word means: "early" is (0, 3), "second half" (1, 2)."""
    first = words.lower().strip()
    if first.endswith("half"):
        return int(first.startswith("second")), 2
    if first.startswith(("early", "beginning", "start")):
        return 0, 3
    return (1, 3) if first.startswith("mid") else (2, 3)


def rule(pattern: str) -> re.Pattern[str]:
    """Compile a rule's pattern: case is ignored, and it starts and ends between words."""
    return re.compile(rf"(?<![\w'\u2019/.-])(?=\w)(?:{pattern})(?![\w/])", re.IGNORECASE)
