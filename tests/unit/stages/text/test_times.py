"""Temporal expressions: what they resolve to, what is none, and what holds for any text and moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.interval import Grain, TimeMention
from stages.text.times import resolve_times

PLUS_TWO = timezone(timedelta(hours=2))
MARQUESAS = timezone(-timedelta(hours=9, minutes=30))
# A Thursday.
AT = datetime(2023, 5, 25, 13, 14, 15, 16, tzinfo=PLUS_TWO)


def _moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso).replace(tzinfo=PLUS_TWO)


def _only(text: str, at: datetime = AT) -> TimeMention:
    mentions = resolve_times(text, at)
    assert len(mentions) == 1, mentions
    return mentions[0]


# Text, phrase, start, end, grain; "~" after the grain is vague.
ROWS = [
    ("I walked to the harbour yesterday.", "yesterday", "2023-05-24", "2023-05-25", "day"),
    ("Dinner is today", "today", "2023-05-25", "2023-05-26", "day"),
    ("See you tomorrow!", "tomorrow", "2023-05-26", "2023-05-27", "day"),
    ("She rang the day before yesterday", "the day before yesterday", "2023-05-23", "2023-05-24", "day"),
    ("due the day after tomorrow", "the day after tomorrow", "2023-05-27", "2023-05-28", "day"),
    ("Concert tonight?", "tonight", "2023-05-25T18:00", "2023-05-26T06:00", "hour"),
    ("It rained last night", "last night", "2023-05-24T18:00", "2023-05-25T06:00", "hour"),
    ("I swam this morning", "this morning", "2023-05-25T05:00", "2023-05-25T12:00", "hour"),
    ("yesterday evening we sang", "yesterday evening", "2023-05-24T18:00", "2023-05-25", "hour"),
    ("I painted it last year", "last year", "2022-01-01", "2023-01-01", "year"),
    ("He moves next year", "next year", "2024-01-01", "2025-01-01", "year"),
    ("Rent is due this month", "this month", "2023-05-01", "2023-06-01", "month"),
    ("We marry next month", "next month", "2023-06-01", "2023-07-01", "month"),
    ("I quit last week", "last week", "2023-05-15", "2023-05-22", "week"),
    ("Any plans this weekend?", "this weekend", "2023-05-27", "2023-05-29", "day"),
    ("We hiked last weekend", "last weekend", "2023-05-20", "2023-05-22", "day"),
    ("The weekend was lovely", "The weekend", "2023-05-20", "2023-05-22", "day"),
    ("We left the week before last", "the week before last", "2023-05-08", "2023-05-15", "week"),
    ("The show is later this month", "later this month", "2023-05-25", "2023-06-01", "month~"),
    ("I'll pay at the end of the month", "the end of the month", "2023-05-21", "2023-06-01", "day~"),
    ("I got a kitten two weeks ago", "two weeks ago", "2023-05-08", "2023-05-15", "week"),
    ("we met 10 years ago", "10 years ago", "2013-01-01", "2014-01-01", "year"),
    ("I broke it a few days ago", "a few days ago", "2023-05-20", "2023-05-24", "day~"),
    ("a couple of weeks ago she fell", "a couple of weeks ago", "2023-05-01", "2023-05-15", "week~"),
    ("We talked half an hour ago", "half an hour ago", "2023-05-25T12:44", "2023-05-25T12:45", "minute"),
    ("We camped two weekends ago", "two weekends ago", "2023-05-13", "2023-05-15", "day"),
    ("It broke two or three days ago", "two or three days ago", "2023-05-22", "2023-05-24", "day~"),
    ("I sold it a year and a half ago", "a year and a half ago", "2021-11-01", "2021-12-01", "month"),
    ("We married a decade ago", "a decade ago", "2011-01-01", "2016-01-01", "year~"),
    ("a month ago today I stopped", "a month ago today", "2023-04-25", "2023-04-26", "day"),
    ("I've been ill lately", "lately", "2023-04-25", "2023-05-26", "month~"),
    ("I saw him the other day", "the other day", "2023-05-18", "2023-05-25", "day~"),
    ("The bus leaves in 2 hours", "in 2 hours", "2023-05-25T15:00", "2023-05-25T16:00", "hour"),
    ("We'll be back in a week", "in a week", "2023-05-29", "2023-06-05", "week"),
    ("The trial ends three weeks from now", "three weeks from now", "2023-06-12", "2023-06-19", "week"),
    ("I've known her for three years", "for three years", "2020-05-25", "2023-05-26", "year"),
    ("For three years.", "For three years", "2020-05-25", "2023-05-26", "year"),
    ("Four months now, and I love it", "Four months now", "2023-01-25", "2023-05-26", "month"),
    ("Over the past two weeks I slept badly", "the past two weeks", "2023-05-11", "2023-05-26", "week"),
    ("I'll rest over the next few days", "the next few days", "2023-05-25", "2023-05-30", "day~"),
    ("So much happened in the last month", "the last month", "2023-04-25", "2023-05-26", "month"),
    ("I saw her on Tuesday", "Tuesday", "2023-05-23", "2023-05-24", "day"),
    ("Let's meet on Tuesday", "Tuesday", "2023-05-30", "2023-05-31", "day"),
    ("I flew home last Friday", "last Friday", "2023-05-19", "2023-05-20", "day"),
    ("I had run a race the Friday before.", "the Friday before", "2023-05-19", "2023-05-20", "day"),
    ("The exam is next Tuesday", "next Tuesday", "2023-05-30", "2023-05-31", "day"),
    ("I did it this Tuesday, at last", "this Tuesday", "2023-05-23", "2023-05-24", "day"),
    ("We danced last Friday night", "last Friday night", "2023-05-19T18:00", "2023-05-20T06:00", "hour"),
    ("They came in June", "June", "2022-06-01", "2022-07-01", "month"),
    ("They will come in June", "June", "2023-06-01", "2023-07-01", "month"),
    ("We finished back in october", "october", "2022-10-01", "2022-11-01", "month"),
    ("We opened in October last year", "October last year", "2022-10-01", "2022-11-01", "month"),
    ("I was there in early March", "early March", "2023-03-01", "2023-03-11", "day~"),
    ("She graduated last summer", "last summer", "2022-06-01", "2022-09-01", "season"),
    ("in the summer of 2021 it burnt", "the summer of 2021", "2021-06-01", "2021-09-01", "season"),
    ("The flood of last winter", "last winter", "2022-12-01", "2023-03-01", "season"),
    ("My party was on May 5", "May 5", "2023-05-05", "2023-05-06", "day"),
    ("on the 5th of May we won", "the 5th of May", "2023-05-05", "2023-05-06", "day"),
    ("signed 2023-05-05", "2023-05-05", "2023-05-05", "2023-05-06", "day"),
    ("signed 5 May, 2023", "5 May, 2023", "2023-05-05", "2023-05-06", "day"),
    ("Start: March-15-2024", "March-15-2024", "2024-03-15", "2024-03-16", "day"),
    ("sent 31/12/2022 by post", "31/12/2022", "2022-12-31", "2023-01-01", "day"),
    ("sent 6/7/2023 by post", "6/7/2023", "2023-06-07", "2023-06-08", "day"),
    ("gesendet 6.7.2023", "6.7.2023", "2023-07-06", "2023-07-07", "day"),
    ("log 2024-01-15T10:00:03Z ok", "2024-01-15T10:00:03Z", "2024-01-15T12:00", "2024-01-15T12:01", "minute"),
    ("born on Feb 29", "Feb 29", "2024-02-29", "2024-03-01", "day"),
    ("I paid on the 15th.", "the 15th", "2023-05-15", "2023-05-16", "day"),
    ("due on the 3rd of next month", "the 3rd of next month", "2023-06-03", "2023-06-04", "day"),
    ("I moved back in 2019", "2019", "2019-01-01", "2020-01-01", "year"),
    ("I learnt it in early 2020", "early 2020", "2020-01-01", "2020-05-01", "month~"),
    ("Nobody had phones in the 90s", "90s", "1990-01-01", "2000-01-01", "year"),
    ("Painting since 2016", "since 2016", "2016-01-01", "2023-05-26", "year~"),
    ("I've been here since Monday", "since Monday", "2023-05-22", "2023-05-26", "day~"),
    ("Open until Friday", "until Friday", "2023-05-25", "2023-05-27", "day~"),
    ("We ate at home last Christmas", "last Christmas", "2022-12-25", "2022-12-26", "day"),
    ("I wore that last Halloween", "last Halloween", "2022-10-31", "2022-11-01", "day"),
    ("We flew after Thanksgiving 2021", "Thanksgiving 2021", "2021-11-25", "2021-11-26", "day"),
    ("I saw them last Easter", "last Easter", "2023-04-09", "2023-04-10", "day"),
    ("off the week of July 3", "the week of July 3", "2023-07-03", "2023-07-10", "week"),
    ("the Friday before Easter 2022", "the Friday before Easter 2022", "2022-04-15", "2022-04-16", "day"),
    ("first weekend of August 2023", "first weekend of August 2023", "2023-08-05", "2023-08-07", "day"),
    ("two days after May 5, 2023", "two days after May 5, 2023", "2023-05-07", "2023-05-08", "day"),
    ("the second half of 2021", "the second half of 2021", "2021-07-01", "2022-01-01", "month~"),
    ("Call me at 3pm tomorrow", "at 3pm tomorrow", "2023-05-26T15:00", "2023-05-26T16:00", "hour"),
    ("Tomorrow at 3:30 pm works", "Tomorrow at 3:30 pm", "2023-05-26T15:30", "2023-05-26T15:31", "minute"),
    ("a table this evening 7:15", "this evening 7:15", "2023-05-25T19:15", "2023-05-25T19:16", "minute"),
    ("on 7 May 2023 at 14:05", "7 May 2023 at 14:05", "2023-05-07T14:05", "2023-05-07T14:06", "minute"),
    ("Away from Monday to Wednesday", "from Monday to Wednesday", "2023-05-29", "2023-06-01", "day"),
    ("between March and May", "between March and May", "2023-03-01", "2023-06-01", "month"),
    ("from 2016 to 2018 I sailed", "from 2016 to 2018", "2016-01-01", "2019-01-01", "year"),
    ("Nov 16 - Jan 15, 2024", "Nov 16 - Jan 15, 2024", "2023-11-16", "2024-01-16", "day"),
    ("Trip: August 11 to 15", "August 11 to 15", "2023-08-11", "2023-08-16", "day"),
    ("ayer llovió", "ayer", "2023-05-24", "2023-05-25", "day"),
    ("nací el 5 de mayo de 1990", "5 de mayo de 1990", "1990-05-05", "1990-05-06", "day"),
    ("am 3. Juni 2021 kam er", "3. Juni 2021", "2021-06-03", "2021-06-04", "day"),
    ("il y a deux semaines", "il y a deux semaines", "2023-05-08", "2023-05-15", "week"),
    ("Я был там вчера", "вчера", "2023-05-24", "2023-05-25", "day"),
    ("我2023年5月3日去了", "2023年5月3日", "2023-05-03", "2023-05-04", "day"),
    ("昨日行きました", "昨日", "2023-05-24", "2023-05-25", "day"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "phrase", "start", "end", "grain"), ROWS, ids=[row[0] for row in ROWS])
def test_an_expression_resolves(text: str, phrase: str, start: str, end: str, grain: str) -> None:
    mention = _only(text)
    assert mention.phrase == phrase
    assert mention.interval.start == _moment(start)
    assert mention.interval.end == _moment(end)
    assert mention.interval.grain is Grain(grain.rstrip("~"))
    assert mention.interval.vague is grain.endswith("~")


NO_TIMES = [
    "",
    "Nothing to see here, move along.",
    "I may go, you may 5 times",
    "march on, soldiers",
    "The sun is shining and I sat down",
    "give me a second, I'll be there in a minute",
    "second to none",
    "June said hi to April and May",
    "upgrade 11.04 to 12.04 LTS",
    "kernel 2.6.27-12-generic and v2023.05.06",
    "it costs $20.16 or 1,999",
    "call 555-2016-05 or +1 202 555 0143",
    "open 24/7, ratio 3/4, 16:9",
    "http://example.org/2008/04/20/post",
    "/home/may/2016",
    "in 2016 users and in 2000 steps",
    "when I was a kid",
    "the next time we talk, last but not least",
    "the last two games",
    "we fall apart, spring into action",
    "on the 5th floor, on the 2nd try",
    "I play every Monday, Wednesday and Friday",
    "on Feb 30 and 2023-02-29 and 30 February 2022",
    "in 99999, year 0, 9999 years ago",
    "I'm going to stay for two weeks",
    "It was done in two days",
    "in today's world",
    "the Christmas tree and the Halloween costume",
    "temperatures in the 80s degrees",
    "Sun Microsystems, mon ami",
    "this may help",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert resolve_times(text, AT) == ()


def test_a_rescheduling_names_two_days() -> None:
    mentions = resolve_times("They moved it from Monday to Wednesday", AT)
    assert [mention.phrase for mention in mentions] == ["Monday", "Wednesday"]


def test_several_expressions_come_in_the_order_of_the_text() -> None:
    text = "Yesterday I slept; tomorrow, in 2 hours or on 5 May 2020 I will not."
    phrases = [mention.phrase for mention in resolve_times(text, AT)]
    assert phrases == ["Yesterday", "tomorrow", "in 2 hours", "5 May 2020"]


@pytest.mark.parametrize(
    ("at", "start"),
    [
        (datetime(2023, 5, 25, 0, 30, tzinfo=timezone(timedelta(hours=14))), "2023-05-24T00:00:00+14:00"),
        (
            datetime(2023, 5, 25, 0, 30, tzinfo=timezone(-timedelta(hours=9, minutes=30))),
            "2023-05-24T00:00:00-09:30",
        ),
        (datetime(2023, 5, 25, 0, 30, tzinfo=UTC), "2023-05-24T00:00:00+00:00"),
        # The offset is the one of the turn: the clocks had gone forward in between.
        (datetime(2023, 3, 26, 12, tzinfo=ZoneInfo("Europe/Berlin")), "2023-03-25T00:00:00+02:00"),
    ],
)
def test_days_are_those_of_the_turns_offset(at: datetime, start: str) -> None:
    assert _only("yesterday", at).interval.start.isoformat() == start


@pytest.mark.parametrize(
    ("text", "at", "day"),
    [
        ("last Sunday", "2023-07-31", "2023-07-30"),
        ("last weekend", "2023-07-16", "2023-07-08"),
        ("next Friday", "2023-05-22", "2023-06-02"),
        ("last summer", "2023-08-11", "2022-06-01"),
        ("last summer", "2023-10-17", "2023-06-01"),
        ("We met in December", "2024-01-03", "2023-12-01"),
        ("yesterday", "2024-03-01", "2024-02-29"),
        ("a year ago today", "2024-02-29", "2023-02-28"),
        ("nos vemos el 5 de mayo", "1999-01-02", "1999-05-05"),
    ],
)
def test_the_edges_of_the_calendar(text: str, at: str, day: str) -> None:
    assert _only(text, _moment(at)).interval.start == _moment(day)


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(ValueError, match="UTC offset"):
        resolve_times("yesterday", AT.replace(tzinfo=None))


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
