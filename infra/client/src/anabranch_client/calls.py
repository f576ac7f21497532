"""The methods of both clients, written once: each is a flow of requests (see ``retries``).

What publishes also yields its place in the queue of the space, to be waited for before it goes on (see ``queues``).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote
from uuid import uuid4

from anabranch_client import answers
from anabranch_client.answers import Accepted, Answer, Bundle, Recalled, TurnState
from anabranch_client.asking import Answering, Asking, ContextOptions, Latest
from anabranch_client.errors import (
    About,
    AnabranchError,
    Invalid,
    Refused,
    TooMuch,
    Unavailable,
    WrongUse,
    with_accepted,
)
from anabranch_client.parts import Encoded, encoded, halves, parts
from anabranch_client.queues import Place, Queues
from anabranch_client.retries import Outcome, Request, Retries, Send, answered
from anabranch_client.tokens import Tokens
from anabranch_client.turns import Turn, check_space, written

T = TypeVar("T")

_TOO_LARGE: Final = 413

Flow = Generator[Send | Place, Outcome, T]
"""What a client drives: it sends what is to be sent, and waits for a place."""


@dataclass(frozen=True, slots=True)
class Calls:
    """What a gateway can be asked."""

    retries: Retries
    tokens: Tokens = field(default_factory=Tokens)
    queues: Queues = field(default_factory=Queues)

    def publish(self, space: str, turns: Iterable[Turn]) -> Flow[Accepted]:
        """Publish turns in their order, in as few requests as they fit in, one after another.

        Between two of them, others who wait for the space have their turn: ``turns`` may be long in coming.
        """
        check_space(space)
        ids: list[str] = []
        after = None
        for part in parts(encoded(space, turn) for turn in turns):
            try:
                accepted = yield from self._in_turn(space, self._publish_part(space, part))
            except AnabranchError as error:
                raise with_accepted(error, ids) from error.__cause__
            ids += accepted.turn_ids
            after = accepted.after
        if after is None:
            msg = f"there are no turns to publish to {space}"
            raise WrongUse(msg)
        return Accepted(tuple(ids), after)

    def publish_each(self, space: str, part: Sequence[Encoded]) -> Flow[list[Accepted | AnabranchError]]:
        """Publish turns of many callers in their order, with none between; return what became of each."""
        return (yield from self._in_turn(space, self._publish_each(space, part)))

    def recall(self, space: str, question: str, how: Asking) -> Flow[Recalled]:
        """Ask a question."""
        about = _about("recall from", space)
        body = {
            "question": question,
            "asker": how.get("asker"),
            "asked_at": _moment("asked_at", how.get("asked_at")),
            "for_turn": how.get("for_turn"),
            "k": how.get("k"),
            "after": self._token(space, how.get("after", Latest.WRITE)),
            "as_of": how.get("as_of"),
        }
        answer = yield from answered(_request(about, "recall", body), self.retries)
        return answers.read(about, answer, answers.recalled)

    def answer(self, space: str, question: str, how: Answering) -> Flow[Answer]:
        """Ask for an answer."""
        about = _about("answer from", space)
        body = {
            "question": question,
            "asker": how.get("asker"),
            "asked_at": _moment("asked_at", how.get("asked_at")),
            "for_turn": how.get("for_turn"),
            "after": self._token(space, how.get("after", Latest.WRITE)),
            "as_of": how.get("as_of"),
            "budget": how.get("budget"),
            "requests": how.get("requests"),
            "seconds": how.get("seconds"),
            "trace": how.get("trace"),
        }
        said = yield from answered(_request(about, "answer", body), self.retries)
        return answers.read(about, said, answers.answered)

    def context(self, space: str, text: str, how: ContextOptions) -> Flow[Bundle]:
        """Ask for the bundle of a turn that is not published."""
        about = _about("context from", space)
        at = _moment("at", how.get("at"))
        body = {"text": text, "speaker": how.get("speaker"), "at": at, "budget": how.get("budget")}
        answer = yield from answered(_request(about, "context", body), self.retries)
        return answers.read(about, answer, answers.bundle)

    def turn(self, space: str, turn_id: str) -> Flow[TurnState]:
        """Ask where a turn is."""
        about = _about("look up in", space, turn_id)
        name = quote(turn_id, safe="")
        if not turn_id.strip("."):
            name = turn_id.replace(".", "%2E")  # `..` as a part of a path is a step up
        request = Request("GET", f"{_path(space)}/turns/{name}", about)
        return answers.read(about, (yield from answered(request, self.retries)), answers.turn_state)

    def _in_turn(self, space: str, flow: Flow[T]) -> Flow[T]:
        """Run a flow once those before it in the space have ended: so the last answer is that of the last write."""
        with self.queues.place(space) as place:
            yield place
            return (yield from flow)

    def _publish_each(self, space: str, part: Sequence[Encoded]) -> Flow[list[Accepted | AnabranchError]]:
        """Publish turns of many callers.

        A request with a wrong turn is refused whole, so it is halved until the wrong one is alone. Where a turn may
        come again, those behind it are not sent: they would overtake it.
        """
        try:
            accepted = yield from self._post(space, part)
        except AnabranchError as error:
            if len(part) == 1 or not _is_of_a_turn(error):
                return [error] * len(part)
        else:
            return [Accepted((one.turn_id,), accepted.after) for one in part]
        first, second = halves(part)
        outcomes = yield from self._publish_each(space, first)
        last = outcomes[-1]
        if isinstance(last, AnabranchError) and not _is_of_a_turn(last):
            return [*outcomes, *(unsent(space, one) for one in second)]
        return [*outcomes, *(yield from self._publish_each(space, second))]

    def _publish_part(self, space: str, part: Sequence[Encoded]) -> Flow[Accepted]:
        """Publish turns of one caller; if the gateway takes less at once, in halves."""
        try:
            return (yield from self._post(space, part))
        except TooMuch as error:
            if len(part) == 1 or error.status != _TOO_LARGE:
                raise
        first, second = halves(part)
        before = yield from self._publish_part(space, first)
        try:
            accepted = yield from self._publish_part(space, second)
        except AnabranchError as error:
            raise with_accepted(error, before.turn_ids) from error.__cause__
        return Accepted(before.turn_ids + accepted.turn_ids, accepted.after)

    def _post(self, space: str, part: Sequence[Encoded]) -> Flow[Accepted]:
        about = _about("publish to", space, *(one.turn_id for one in part))
        payloads = [one.payload for one in part]
        body = payloads[0] if len(part) == 1 else b'{"turns":[' + b",".join(payloads) + b"]}"
        answer = yield from answered(Request("POST", f"{_path(space)}/turns", about, body), self.retries)
        accepted = answers.read(about, answer, answers.accepted)
        self.tokens.keep(space, accepted.after)
        return accepted

    def _token(self, space: str, after: Accepted | str | Latest | None) -> str | None:
        if isinstance(after, Latest):
            return self.tokens.get(space)
        return after.after if isinstance(after, Accepted) else after


def unsent(space: str, one: Encoded) -> Unavailable:
    """Return the error of a turn that is not sent because one before it was not taken."""
    what = "not sent, because turns of this space before it did not arrive"
    return Unavailable(About("publish to", space, (one.turn_id,)), what, is_maybe_taken=False)


def broken_off(space: str, one: Encoded) -> Unavailable:
    """Return the error of a turn whose publisher was closed by force while it was in flight."""
    return Unavailable(About("publish to", space, (one.turn_id,)), "closed before an answer came", is_maybe_taken=True)


def is_ended(outcome: Accepted | Exception) -> bool:
    """Whether a turn will not come again as it is: what is behind it may go on."""
    return isinstance(outcome, Accepted) or _is_of_a_turn(outcome)


def _is_of_a_turn(error: Exception) -> bool:
    """Whether the gateway refused for what the turns are: others are taken at the same time."""
    return isinstance(error, Invalid) or (isinstance(error, Refused) and error.status == _TOO_LARGE)


def _about(doing: str, space: str, *turn_ids: str) -> About:
    return About(doing, check_space(space), turn_ids, uuid4().hex)


def _path(space: str) -> str:
    tenant, _, name = space.partition("/")
    return f"/v1/spaces/{quote(tenant, safe='@:+=~')}/{quote(name, safe='@:+=~')}"


def _request(about: About, what: str, body: dict[str, Any]) -> Request:
    given = {name: value for name, value in body.items() if value is not None}
    return Request("POST", f"{_path(about.space)}/{what}", about, json.dumps(given).encode("ascii"))


def _moment(name: str, at: datetime | None) -> str | None:
    return None if at is None else written(name, at)
