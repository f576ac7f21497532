"""What requests carry, and what the gateway answers with, as the OpenAPI document shows them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from schemas.base import Model
from schemas.localized import Rule
from schemas.memory import OutcomeState
from schemas.moment import Moment
from schemas.recall import Line
from schemas.space import Space
from schemas.turn import Identifier, Turn

Text = Annotated[str, StringConstraints(pattern=r"\S", max_length=100_000)]
"""A question, or a turn that is not published: longer ones take seconds of everybody's time."""

Token = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class PublishedTurn(Turn):
    """One utterance of one participant. The path names its space; where the turn names one too, it is the same."""

    space: Space | None = None  # type: ignore[assignment]  # left out: the path's


class PublishedTurns(Model):
    """Several turns of one space, in their order. All are taken or none is."""

    turns: Annotated[tuple[PublishedTurn, ...], Field(min_length=1)]


class Accepted(Model):
    """The log has these turns. ``after`` is the token for a recall that must not miss the last of them."""

    turn_ids: tuple[str, ...]
    after: str


class RecallRequest(Model):
    """A question to memory.

    ``asker`` is who asks ("my sister" is theirs), ``asked_at`` when ("last month" is before it), ``for_turn`` the turn
    that asks, which is no evidence for itself. ``after`` waits a while for a turn; ``as_of`` answers from what was
    known then: ``turn:ID``, ``time:T`` or ``position:N``.
    """

    question: Text
    asker: Identifier | None = None
    asked_at: Moment | None = None
    for_turn: Identifier | None = None
    k: Annotated[int, Field(ge=1, le=1000)] = 10
    after: Token | None = None
    as_of: Token | None = None


class AnswerRequest(Model):
    """A question to be answered; the fields that a recall has mean what they mean there.

    ``budget`` counts tokens of evidence in a request to the language model, ``requests`` those requests, ``seconds``
    the time that an answer may take: as the gateway's settings say where they are left out, and never more than that.
    ``trace`` asks for the steps.
    """

    question: Text
    asker: Identifier | None = None
    asked_at: Moment | None = None
    for_turn: Identifier | None = None
    after: Token | None = None
    as_of: Token | None = None
    budget: Annotated[int, Field(ge=100, le=1_000_000)] | None = None
    requests: Annotated[int, Field(ge=0, le=20)] | None = None
    seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = None
    trace: bool = False


class ContextRequest(Model):
    """A turn that is not published, for which a bundle of at most ``budget`` tokens is wanted."""

    text: Text
    speaker: Identifier | None = None
    at: Moment | None = None
    budget: Annotated[int, Field(ge=1, le=100_000)] = 1024


class RunnerUp(Model):
    """A turn that might have been the parent."""

    turn_id: str
    score: int


class Placed(Model):
    """Where a turn hangs in the forest of its space."""

    turn_id: str | None
    parent_turn_id: str | None
    other_parents: tuple[str, ...]
    rule: Rule
    score: int | None
    runners_up: tuple[RunnerUp, ...]


class Context(Model):
    """The bundle for a turn: most useful lines first, within the budget."""

    placement: Placed
    lines: tuple[Line, ...]
    tokens: int


class TurnAnswer(Model):
    """What became of a turn; ``state`` is an outcome, or pending."""

    turn_id: str
    position: int | None
    state: OutcomeState | Annotated[str, StringConstraints(pattern="^pending$")]
    reason: str | None


class Fault(Model):
    """What is wrong where. ``turn`` is its number in the request, from 0."""

    turn: int | None = None
    turn_id: str | None = None
    field: str
    message: str


class ProblemAnswer(Model):
    """An error (RFC 9457). ``request_id`` is in the logs too."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: tuple[Fault, ...] = ()


class Health(Model):
    """The process runs."""

    status: str


class Ready(Model):
    """What the gateway stands on: ``ok``, or why it does not answer."""

    ready: bool
    parts: dict[str, str]


EXAMPLE_TURN: dict[str, Any] = {
    "turn_id": "c1:17",
    "speaker": {"id": "u-42", "name": "Mia", "role": "user"},
    "text": "I moved to Berlin last week.",
    "at": "2026-03-01T18:22:05+01:00",
    "session": "c1",
}
EXAMPLE_REPLY: dict[str, Any] = {
    "turn_id": "c1:18",
    "speaker": {"id": "pilot", "name": "Pilot", "role": "agent"},
    "text": "How do you like it?",
    "at": "2026-03-01T18:22:31+01:00",
    "reply_to": "c1:17",
    "session": "c1",
}
EXAMPLE_QUESTION: dict[str, Any] = {"question": "Where does Mia live?", "k": 5, "after": "c1:18"}
EXAMPLE_ANSWERED: dict[str, Any] = {"question": "Where does Mia live?", "after": "c1:18", "trace": True}
EXAMPLE_CONTEXT: dict[str, Any] = {"text": "How do I register there?", "speaker": "u-42", "budget": 600}
EXAMPLE_ACCEPTED: dict[str, Any] = {"turn_ids": ["c1:17", "c1:18"], "after": "c1:18"}
