"""Times of any text at any moment: order, spans, zones, the ends of time, and one pass."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.text.times import resolve_times
from tests.fakes.expressions import AT, NO_TIMES, ROWS


@pytest.mark.parametrize("at", [datetime.min, datetime.max])  # noqa: DTZ901 - the zone comes below
@pytest.mark.parametrize("hours", [-23, 0, 23])
def test_the_ends_of_time_leave_an_expression_out(at: datetime, hours: int) -> None:
    at = at.replace(tzinfo=timezone(timedelta(hours=hours)))
    for row in ROWS:
        for mention in resolve_times(row[0], at):
            assert mention.interval.start < mention.interval.end


@pytest.mark.parametrize("piece", ["last ", "May 5 to ", "two weeks ", "since ", "1 ", "\n\n", "前年", "the end of "])
def test_a_long_text_is_read_in_one_pass(piece: str) -> None:
    # Quadratic work on this would take minutes, not the test's second or two.
    text = "It is 5" + piece * 6_000 + " yesterday"
    assert resolve_times(text, AT)[-1].phrase.endswith("yesterday")


_WORDS = (
    *(
        "last",
        "next",
        "this",
        "the",
        "from",
        "to",
        "and",
        "between",
        "since",
        "until",
        "early",
        "week",
        "month",
    ),
    *("year", "ago", "in", "for", "May", "June", "Friday", "before", "after", "of", "Christmas", "5", "30th"),
    *(
        "2023",
        "99999",
        "0",
        "a",
        "few",
        "two",
        "3pm",
        "at",
        "-",
        ",",
        ".",
        "half",
        "weekend",
        "summer",
        "now",
    ),
)
_PIECES = st.lists(
    st.one_of(
        st.sampled_from([row[0] for row in ROWS] + NO_TIMES),
        st.sampled_from(_WORDS),
        st.text(max_size=8),
    ),
    max_size=14,
)
_OFFSETS = st.timedeltas(min_value=timedelta(hours=-23), max_value=timedelta(hours=23))
_MOMENTS = st.datetimes(timezones=st.timezones() | st.builds(timezone, _OFFSETS))


@settings(max_examples=150, deadline=None)
@given(pieces=_PIECES, glue=st.sampled_from([" ", "", "\n"]), at=_MOMENTS)
def test_any_text_at_any_moment(pieces: list[str], glue: str, at: datetime) -> None:
    text = glue.join(pieces)
    mentions = resolve_times(text, at)
    assert mentions == resolve_times(text, at)
    floor = 0
    for mention in mentions:
        assert mention.span.start >= floor
        assert mention.span.of(text) == mention.phrase
        assert mention.interval.start < mention.interval.end
        assert mention.interval.start.utcoffset() == at.utcoffset() == mention.interval.end.utcoffset()
        floor = mention.span.end


@settings(max_examples=100, deadline=None)
@given(text=st.text(), at=_MOMENTS)
def test_any_script(text: str, at: datetime) -> None:
    for mention in resolve_times(text, at):
        assert mention.span.of(text) == mention.phrase
