"""Hostile times: what is no time, and times at whose edges arithmetic overflows."""

from __future__ import annotations

from tests.hostile.case import COMMITTED, LETTERED, one, turn

PHRASES = (
    "Yesterday, last week and the week before last we painted; tomorrow, next week and the week after next we sail. "
    "Ten years ago, in ten years, 99999 years ago, in 99999 weeks, at 25:00, on the 31st, last Christmas, next Easter, "
    "since 2016, in the 1990s, in 10000, on 9999-12-31, on 0001-01-01, the day before yesterday, the end of the year."
)
"""What is resolved against the turn's own time; it overflows on either side."""

NOT_A_TIME = (
    "2026-03-01T18:00:00",  # no zone
    "2026-03-01",
    "2026",
    "1772388000",  # seconds, in a text
    "2026-02-30T00:00:00Z",
    "2026-03-01T24:00:00Z",
    "2016-12-31T23:59:60Z",  # a leap second
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "-0001-01-01T00:00:00Z",
    "2026-03-01T18:00:00+24:00",
    "٢٠٢٦-03-01T18:00:00Z",
    "NaN",
    "now",
    "",
)

EDGES = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",  # in UTC it is before the first year
    "0001-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",  # in UTC it is after the last
    "9999-01-01T00:00:00+23:59",
    "2024-02-29T23:59:59-23:59",
)

TIMES = (
    *(one(f"at is {at!r}", turn(at=at), LETTERED, "at: ") for at in NOT_A_TIME),
    *(one(f"at is {at}", turn(at=at), LETTERED, "at: ") for at in (None, 0, 1.5, 10**30, True, ["now"])),
    *(one(f"relative times said at {at}", turn(text=PHRASES, at=at), COMMITTED,
          remark="what lies outside of the calendar is left unresolved") for at in EDGES),
    one('"the week after next"', turn(text="We sail the week after next."), COMMITTED),
    one("a text of 2,000 times", turn(text="the week after next, " * 1000 + "last year, " * 1000), COMMITTED),
)  # fmt: skip
