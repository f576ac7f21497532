"""One request, tried until it has an answer or its time is up. Nothing here waits, sends or knows a transport.

It is a generator: it yields what to send next (and how long to wait before), is sent the outcome, and returns. The two
clients differ only in who drives it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Final

from anabranch_client.errors import About, Problem, TimedOut, Unavailable, Unexpected, Unreachable, WrongUse, refusal

_AGAIN: Final = frozenset({429, 502, 503, 504})
_TOO_MANY: Final = 429


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to connect, and to wait for an answer (a recall may wait for its own last write) at each try."""

    connect_s: float = 5.0
    read_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How a request is tried again: after a random time below ``first_s``, doubled each time up to ``longest_s``.

    Chance spreads bots that failed together (exponential backoff with full jitter). A ``Retry-After`` is waited for
    before that. ``deadline_s`` bounds all tries of a request together; 0 is one try.

    Raises:
        WrongUse: if a time is negative.
    """

    first_s: float = 0.1
    longest_s: float = 10.0
    deadline_s: float = 60.0

    def __post_init__(self) -> None:
        """Check the times."""
        if min(self.first_s, self.longest_s, self.deadline_s) < 0:
            msg = f"times of retries are not negative; got {self}"
            raise WrongUse(msg)

    def delay_s(self, tries: int, retry_after_s: float | None, chance: float) -> float:
        """Return how long to wait after ``tries`` tries; ``chance`` is from 0 to 1."""
        grown = self.first_s * 2.0 ** min(tries - 1, 60)
        return (retry_after_s or 0.0) + min(self.longest_s, grown) * chance


@dataclass(frozen=True, slots=True)
class Request:
    """A request, and what it is about."""

    method: str
    path: str
    about: About
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Wait ``delay_s``, then send the request and give it at most ``left_s``."""

    request: Request
    delay_s: float
    left_s: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """Nothing usable came back.

    ``is_sent``: the request may have arrived; ``is_late``: time was up; ``is_lasting``: another try would not help.
    """

    what: str
    is_sent: bool
    is_late: bool = False
    is_lasting: bool = False


Outcome = Answer | Failure


def answered(
    request: Request,
    retries: Retries,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[], float] = random.random,
) -> Generator[Send, Outcome, object]:
    """Return the JSON of the answer.

    Raises:
        Refused: at a 4xx; at 429 only when no try is left.
        Unavailable: if there is no usable answer in time.
        Unexpected: at an answer that no gateway gives.
    """
    end, delay, is_maybe_taken = clock() + retries.deadline_s, 0.0, False
    for tries in count(1):
        outcome = yield Send(request, delay, end - clock() - delay)
        if isinstance(outcome, Answer) and outcome.status not in _AGAIN:
            return _settled(request.about, outcome)
        if isinstance(outcome, Failure) and outcome.is_lasting:
            raise Unexpected(request.about, outcome.what)
        is_maybe_taken = is_maybe_taken or _may_be_taken(outcome)
        delay = retries.delay_s(tries, _told(outcome), chance())
        if clock() + delay >= end:
            raise _given_up(request.about, outcome, tries, is_maybe_taken=is_maybe_taken)
    raise AssertionError  # pragma: no cover - count has no end


def _may_be_taken(outcome: Outcome) -> bool:
    return outcome.is_sent if isinstance(outcome, Failure) else outcome.status != _TOO_MANY


def _given_up(about: About, outcome: Outcome, tries: int, *, is_maybe_taken: bool) -> Exception:
    times = "once" if tries == 1 else f"{tries} times"
    if isinstance(outcome, Failure):
        kind = TimedOut if outcome.is_late else Unreachable
        return kind(about, f"tried {times}: {outcome.what}", is_maybe_taken=is_maybe_taken)
    problem = _problem(outcome)
    if outcome.status == _TOO_MANY:
        return refusal(about, problem)
    return _unavailable(about, problem, times, is_maybe_taken=is_maybe_taken)


def _unavailable(about: About, problem: Problem, times: str, *, is_maybe_taken: bool) -> Unavailable:
    what = f"tried {times}: {problem.status} {problem.title}" + (f": {problem.detail}" if problem.detail else "")
    return Unavailable(about, what, is_maybe_taken=is_maybe_taken)


def _settled(about: About, answer: Answer) -> object:
    """Return the body of a 2xx; anything else is an error that another try does not mend."""
    match answer.status // 100:
        case 2:
            try:
                return json.loads(answer.body)
            except ValueError as error:
                raise Unexpected(about, f"the answer {answer.status} is not JSON") from error
        case 4:
            raise refusal(about, _problem(answer))
        case 5:
            raise _unavailable(about, _problem(answer), "once", is_maybe_taken=True)
        case _:
            to = answer.headers.get("location")
            raise Unexpected(about, f"the answer is {answer.status}" + (f", which leads to {to}" if to else ""))


def _problem(answer: Answer) -> Problem:
    """Return what an error answer says; a proxy's, which is no problem+json, has its status alone."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        body = None
    fields = body if isinstance(body, dict) else {}
    detail = fields.get("detail")
    title = str(fields.get("title") or f"status {answer.status}")
    return Problem(answer.status, title, None if detail is None else str(detail), fields, _told(answer))


def _told(outcome: Outcome) -> float | None:
    """Return how many seconds a ``Retry-After`` asks for: they are written so, or as a date."""
    text = outcome.headers.get("retry-after") if isinstance(outcome, Answer) else None
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
