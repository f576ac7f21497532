"""When a request is tried again: outcomes in, waits out. The clock stands still but for the waits asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from anabranch_client import (
    AnabranchError,
    Invalid,
    NotAuthorized,
    NotFound,
    Refused,
    Retries,
    TimedOut,
    TooMuch,
    Unavailable,
    Unexpected,
    Unreachable,
    WrongUse,
)
from anabranch_client.errors import About
from anabranch_client.retries import Answer, Failure, Outcome, Request, answered

UNSENT = Failure("refused", is_sent=False)
BROKEN = Failure("reset", is_sent=True)
LATE = Failure("late", is_sent=True, is_late=True)
GOOD = Answer(202, {}, b'{"a":1}')
ASKED = Request("POST", "/", About("publish to", "acme/mia", ("t1",)))


def status(number: int, **headers: str) -> Answer:
    return Answer(number, {name.replace("_", "-"): value for name, value in headers.items()}, b"")


def tried(outcomes: Sequence[Outcome], retries: Retries, chance: float = 1.0) -> tuple[object, list[float]]:
    """Return the end of a request (its JSON or its error) and the waits before each try."""
    now = 0.0
    waits = []
    flow = answered(ASKED, retries, clock=lambda: now, chance=lambda: chance)
    given = iter(outcomes)
    try:
        send = next(flow)
        while True:
            waits.append(send.delay_s)
            now += send.delay_s
            send = flow.send(next(given))
    except StopIteration as end:
        return end.value, waits
    except AnabranchError as error:
        return error, waits


RETRIES = Retries(first_s=1.0, longest_s=5.0, deadline_s=100.0)


@pytest.mark.parametrize("fault", [UNSENT, BROKEN, LATE, *map(status, (429, 502, 503, 504))])
def test_what_may_pass_is_tried_again(fault: Outcome) -> None:
    assert tried([fault, fault, GOOD], RETRIES) == ({"a": 1}, [0.0, 1.0, 2.0])


def test_waits_double_up_to_the_longest_and_chance_shortens_them() -> None:
    assert tried([BROKEN] * 5 + [GOOD], RETRIES)[1] == [0.0, 1.0, 2.0, 4.0, 5.0, 5.0]
    assert tried([BROKEN] * 5 + [GOOD], RETRIES, chance=0.5)[1] == [0.0, 0.5, 1.0, 2.0, 2.5, 2.5]


def test_a_retry_after_is_waited_for_in_seconds_and_as_a_date() -> None:
    assert tried([status(429, retry_after="7"), GOOD], RETRIES, chance=0.0)[1] == [0.0, 7.0]
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    (_, wait) = tried([status(503, retry_after=date), GOOD], RETRIES, chance=0.0)[1]
    assert 25 < wait <= 30
    assert tried([status(503, retry_after="soon"), GOOD], RETRIES, chance=0.0)[1] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("fault", "kind", "is_maybe_taken"),
    [
        (UNSENT, Unreachable, False),
        (BROKEN, Unreachable, True),
        (LATE, TimedOut, True),
        (status(503), Unavailable, True),
        (status(504), Unavailable, True),
    ],
)
def test_all_tries_end_at_the_deadline(fault: Outcome, kind: type[Unavailable], is_maybe_taken: bool) -> None:  # noqa: FBT001 - a table
    error, waits = tried([fault] * 99, Retries(1.0, 5.0, 10.0))
    assert type(error) is kind
    assert isinstance(error, Unavailable)
    assert waits == [0.0, 1.0, 2.0, 4.0]  # the next would end at 12
    assert error.is_maybe_taken == is_maybe_taken
    assert (error.space, error.turn_ids) == ("acme/mia", ("t1",))
    assert "publish to acme/mia (turns t1): tried 4 times" in str(error)
    assert "publish again with the same turn ids" in str(error)


def test_one_that_may_have_arrived_is_told_though_the_last_try_did_not() -> None:
    error, _ = tried([BROKEN, UNSENT, UNSENT], Retries(1.0, 5.0, 4.0))
    assert isinstance(error, Unreachable)
    assert error.is_maybe_taken


def test_too_many_requests_at_the_deadline_say_when_to_come_again() -> None:
    error, waits = tried([status(429, retry_after="60")], Retries(deadline_s=10.0))
    assert isinstance(error, TooMuch)
    assert (waits, error.problem.retry_after_s) == ([0.0], 60.0)


@pytest.mark.parametrize("refusal", [status(413), status(429, retry_after="60")])
def test_too_much_is_no_word_on_what_an_earlier_try_left_in_the_log(refusal: Answer) -> None:
    error, _ = tried([BROKEN, refusal], RETRIES if refusal.status == 413 else Retries(1.0, 5.0, 10.0))
    assert isinstance(error, TooMuch)
    assert "the log may have some of it, so keep the turn ids" in str(error)


def test_what_another_try_would_not_help_is_told_at_once() -> None:
    error, waits = tried([Failure("no gzip", is_sent=True, is_lasting=True), GOOD], RETRIES)
    assert isinstance(error, Unexpected)
    assert waits == [0.0]


def test_without_a_deadline_there_is_one_try() -> None:
    error, waits = tried([UNSENT], Retries(deadline_s=0))
    assert isinstance(error, Unreachable)
    assert waits == [0.0]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (200, Unexpected),
        (302, Unexpected),
        (400, Invalid),
        (401, NotAuthorized),
        (403, NotAuthorized),
        (404, NotFound),
        (405, Refused),
        (413, TooMuch),
        (422, Invalid),
        (500, Unavailable),
        (501, Unavailable),
    ],
)
def test_nothing_else_is_tried_again(number: int, kind: type[AnabranchError]) -> None:
    error, waits = tried([status(number)], RETRIES)
    assert type(error) is kind
    assert waits == [0.0]


def test_a_problem_says_all_that_it_said() -> None:
    body = b'{"title": "blank", "status": 422, "detail": "turns.0.text", "turn_id": "t1"}'
    error, _ = tried([Answer(422, {}, body)], RETRIES)
    assert isinstance(error, Invalid)
    assert (error.problem.title, error.problem.detail) == ("blank", "turns.0.text")
    assert error.problem.fields["turn_id"] == "t1"
    assert "refused with 422, blank: turns.0.text; correct" in str(error)


@pytest.mark.parametrize("times", [{"first_s": -1.0}, {"longest_s": -1.0}, {"deadline_s": -0.1}])
def test_times_are_not_negative(times: dict[str, float]) -> None:
    with pytest.raises(WrongUse, match="not negative"):
        Retries(**times)
