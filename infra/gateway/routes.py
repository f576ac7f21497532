"""The routes of spaces: publishing turns, asking memory, and what became of a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra import shown
from infra.as_of import AsOf
from infra.errors import UsageError
from infra.gateway.bodies import Accepted, AnswerRequest, Context, ContextRequest, RecallRequest, TurnAnswer
from infra.gateway.documents import asked, told
from infra.gateway.figures import Figures
from infra.gateway.keys import KeyBook
from infra.gateway.limits import Buckets
from infra.gateway.problems import Problem, not_found
from infra.gateway.reading import TurnsOf, body_of, encoded, read, token
from infra.gateway.served import Served
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.recall import ContextInput, Question, Recalled
from schemas.space import Space

T = TypeVar("T")

SPACES: Final = "/v1/spaces/{tenant}/{space}"
_SMALL: Final = 32 * 1024
"""Bytes of a body that is read at once; a larger one takes milliseconds, in which others go on."""

_BEARER: Final = HTTPBearer(auto_error=False, description="An API key, as `anabranch keys create` prints it.")


@dataclass(frozen=True, slots=True)
class Gateway:
    """What the routes work with."""

    served: Served
    keys: KeyBook
    buckets: Buckets
    settings: Settings
    figures: Figures


def gateway_of(request: Request) -> Gateway:
    """Return the gateway that a request came to."""
    gateway: Gateway = request.app.state.gateway
    return gateway


async def admitted(
    request: Request,
    tenant: str,
    space: str,
    given: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Space:
    """Return the space of a request whose key may ask for it.

    Raises:
        Problem: 401 without a key that holds, 429 beyond its rate, 404 for a space that is not its tenant's.
    """
    gateway = gateway_of(request)
    key = gateway.keys.check(given.credentials) if given is not None else None
    if key is None:
        detail = "send `Authorization: Bearer KEY` with a key that is not revoked; `anabranch keys create` makes one"
        raise Problem(HTTPStatus.UNAUTHORIZED, "unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})
    request.state.key = key
    pause = gateway.buckets.take(key.key_id)
    if pause:
        detail = f"the key {key.key_id} asks more than {gateway.buckets.rate:g} times a second"
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, "rate", detail, retry_s=pause)
    try:
        wanted = Space(f"{tenant}/{space}")
    except ValueError:
        raise not_found() from None
    if wanted.tenant != key.tenant:
        raise not_found()
    return wanted


Admitted = Annotated[Space, Depends(admitted)]
router = APIRouter(prefix=SPACES)


async def _apart(body: bytes, work: Callable[[bytes], T]) -> T:
    """Read a body, a large one in a thread."""
    return work(body) if len(body) <= _SMALL else await asyncio.to_thread(work, body)


@router.post("/turns", status_code=HTTPStatus.ACCEPTED, response_class=JSONResponse, **told(Accepted), **asked("turns"))
async def publish(request: Request, space: Admitted) -> Response:
    """Publish a turn, or several as `{"turns": [...]}`: 202 once the log has them, all or none.

    `turn_id` is the idempotency key inside the space: to publish a turn again changes nothing, so that whoever got no
    answer sends the same again. `after` of the answer is what a recall takes to be sure to know of them.
    """
    gateway = gateway_of(request)
    body = await body_of(request, gateway.settings.gateway_body)
    wanted = TurnsOf(space, gateway.settings.gateway_turns, gateway.settings.max_text)
    turns = await _apart(body, wanted.read)
    await gateway.served.publish(space, [encoded(turn) for turn in turns])
    gateway.figures.accepted.inc(len(turns))
    answer = Accepted(turn_ids=tuple(turn.turn_id for turn in turns), after=token(turns[-1]))
    return _json(answer.model_dump(mode="json"), HTTPStatus.ACCEPTED)


@router.post("/recall", response_class=JSONResponse, **told(Recalled), **asked("recall"))
async def recall(request: Request, space: Admitted) -> Response:
    """Find the evidence for a question, best first, with the turns that it rests on.

    With `after` it waits a while until that turn is in memory; `stale` and `behind` say what the answer may lack.
    """
    gateway = gateway_of(request)
    wanted = await _apart(await body_of(request, gateway.settings.gateway_body), lambda body: read(RecallRequest, body))
    as_of = None if wanted.as_of is None else await _position(gateway, space, wanted.as_of)
    question = Question(
        question=wanted.question,
        asker=wanted.asker,
        asked_at=wanted.asked_at,
        for_turn=wanted.for_turn,
        as_of=as_of,
        k=wanted.k,
    )
    found = await gateway.served.recall(space, question, wanted.after)
    return _json(found.model_dump(mode="json"))


@router.post("/answer", response_class=JSONResponse, **told(Answer), **asked("answer"))
async def answer(request: Request, space: Admitted) -> Response:
    """Answer a question from memory, with the turns that the answer rests on.

    Where there is none, `answer` is null, `reason` says why (`not_in_memory`, `no_model` …), and `evidence` is what a
    recall finds. `after`, `stale` and `behind` are those of a recall.
    """
    gateway = gateway_of(request)
    wanted = await _apart(await body_of(request, gateway.settings.gateway_body), lambda body: read(AnswerRequest, body))
    as_of = None if wanted.as_of is None else await _position(gateway, space, wanted.as_of)
    said = await gateway.served.answer(space, _asked(wanted, as_of, gateway.settings), wanted.after)
    gateway.figures.told(said)
    return _json(said.model_dump(mode="json"))


def _asked(wanted: AnswerRequest, as_of: int | None, settings: Settings) -> Asked:
    """Return what is asked; nobody gets more than the settings allow."""
    question = Question(
        question=wanted.question,
        asker=wanted.asker,
        asked_at=wanted.asked_at,
        for_turn=wanted.for_turn,
        as_of=as_of,
    )
    return Asked(
        question=question,
        budget=None if wanted.budget is None else min(wanted.budget, settings.answer_tokens),
        requests=None if wanted.requests is None else min(wanted.requests, settings.answer_requests),
        seconds=None if wanted.seconds is None else min(wanted.seconds, settings.answer_seconds),
        trace=wanted.trace,
    )


async def _position(gateway: Gateway, space: Space, text: str) -> int:
    try:
        return await gateway.served.position(space, AsOf.read(text))
    except UsageError as error:
        fault = {"field": "as_of", "message": str(error)}
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "unfit", str(error), faults=[fault]) from None


@router.post("/context", response_class=JSONResponse, **told(Context), **asked("context"))
async def context(request: Request, space: Admitted) -> Response:
    """Return what an agent should have before it when it answers a turn that is not published."""
    gateway = gateway_of(request)
    body = await body_of(request, gateway.settings.gateway_body)
    wanted = await _apart(body, lambda body: read(ContextRequest, body))
    asked_for = ContextInput(text=wanted.text, speaker=wanted.speaker, at=wanted.at)
    return _json(shown.bundle(await gateway.served.context(space, asked_for, wanted.budget)))


@router.get("/turns/{turn_id:path}", response_class=JSONResponse, **told(TurnAnswer))
async def turn(request: Request, space: Admitted, turn_id: str) -> Response:
    """Say what became of a turn: committed, lettered (and why), forgotten or pending; 404 if it was never published."""
    found = await gateway_of(request).served.turn(space, turn_id) if len(turn_id) <= _LONGEST_ID else None
    if found is None:
        raise not_found()
    return _json(shown.turn(found))


_LONGEST_ID: Final = 256
"""As ``schemas.turn.Identifier``."""


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:  # noqa: ANN401 - JSON
    return JSONResponse(value, status)
