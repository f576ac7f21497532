"""Temporal expressions: what they resolve to, what is none, and the edges of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from schemas.interval import Grain, TimeMention
from stages.text.times import resolve_times
from tests.fakes.expressions import AT, NO_TIMES, PLUS_TWO, ROWS

MARQUESAS = timezone(-timedelta(hours=9, minutes=30))


def _moment(iso: str) -> datetime:
    return datetime.fromisoformat(iso).replace(tzinfo=PLUS_TWO)


def _only(text: str, at: datetime = AT) -> TimeMention:
    mentions = resolve_times(text, at)
    assert len(mentions) == 1, mentions
    return mentions[0]


@pytest.mark.parametrize(("text", "phrase", "start", "end", "grain"), ROWS, ids=[row[0] for row in ROWS])
def test_an_expression_resolves(text: str, phrase: str, start: str, end: str, grain: str) -> None:
    mention = _only(text)
    assert mention.phrase == phrase
    assert mention.interval.start == _moment(start)
    assert mention.interval.end == _moment(end)
    assert mention.interval.grain is Grain(grain.rstrip("~"))
    assert mention.interval.vague is grain.endswith("~")


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert resolve_times(text, AT) == ()


def test_a_rescheduling_names_two_days() -> None:
    mentions = resolve_times("They moved it from Monday to Wednesday", AT)
    assert [mention.phrase for mention in mentions] == ["Monday", "Wednesday"]


def test_words_of_time_far_apart_are_both_found() -> None:
    text = f"I sold it two days ago, {'and then ' * 40}she rang three years ago."
    assert [mention.phrase for mention in resolve_times(text, AT)] == ["two days ago", "three years ago"]


@pytest.mark.parametrize(
    ("text", "day", "phrases"),
    [
        ("this morning at 11:59 pm", 31, ["this morning"]),
        ("from Thursday to Wednesday", 29, ["Thursday", "Wednesday"]),
    ],
)
def test_at_the_end_of_time_the_part_that_still_has_a_place_is_kept(text: str, day: int, phrases: list[str]) -> None:
    mentions = resolve_times(text, datetime(9999, 12, day, 12, tzinfo=PLUS_TWO))
    assert [mention.phrase for mention in mentions] == phrases


def test_several_expressions_come_in_the_order_of_the_text() -> None:
    text = "Yesterday I slept; tomorrow, in 2 hours or on 5 May 2020 I will not."
    phrases = [mention.phrase for mention in resolve_times(text, AT)]
    assert phrases == ["Yesterday", "tomorrow", "in 2 hours", "5 May 2020"]


@pytest.mark.parametrize(
    ("at", "start"),
    [
        (datetime(2023, 5, 25, 0, 30, tzinfo=timezone(timedelta(hours=14))), "2023-05-24T00:00:00+14:00"),
        (datetime(2023, 5, 25, 0, 30, tzinfo=MARQUESAS), "2023-05-24T00:00:00-09:30"),
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
