"""Bodies to what was meant. Whatever stands in one, the answer is a success or a problem that names the place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from infra.gateway.bodies import PublishedTurn
from infra.gateway.problems import Problem
from schemas.base import Model
from schemas.space import Space
from stages.normalize.clean import cleaned_turn, full_text, is_blank

M = TypeVar("M", bound=Model)

_MOST_FAULTS: Final = 20
"""What is wrong beyond this many places helps nobody more."""


async def body_of(request: Request, limit: int) -> bytes:
    """Return the body of a request.

    Raises:
        Problem: 415 if it is no JSON by its own word, 413 if it is over ``limit`` bytes; no more than that is read.
    """
    media = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if media != "application/json" and not media.endswith("+json"):
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "media-type", "send the body as application/json")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and (len(told) > len(str(limit)) or int(told) > limit):
        raise _too_large(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _too_large(limit: int) -> Problem:
    detail = f"the body is over {limit} bytes: send fewer turns a request, or have ANABRANCH_GATEWAY_BODY raised"
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail)


def read(kind: type[M], body: bytes) -> M:
    """Return a body as one model.

    Raises:
        Problem: 400 if it is no JSON, 422 if it is not that model; each wrong field is named.
    """
    value = _json(body)
    try:
        return kind.model_validate_json(_spelled(value))
    except ValidationError as error:
        faults = [{"field": field, "message": message} for field, message in _faults(error)]
        raise _unfit(faults, "the body") from None


@dataclass(frozen=True, slots=True)
class TurnsOf:
    """Reads the turns of a request to ``space``: ``most`` at most, none longer than ``max_text`` characters."""

    space: Space
    most: int
    max_text: int

    def read(self, body: bytes) -> list[PublishedTurn]:
        """Return the turns of a body, one or ``{"turns": [...]}``, each with the path's space.

        Raises:
            Problem: 400 if it is no JSON, 422 if any turn cannot be taken, naming each by number and id.
        """
        given = self._given(_json(body))
        turns: list[PublishedTurn] = []
        faults: list[dict[str, Any]] = []
        for number, value in enumerate(given):
            read = self._turn(value)
            if isinstance(read, PublishedTurn):
                turns.append(read)
            else:
                faults += [{"turn": number, "turn_id": _named(value), **fault} for fault in read]
            if len(faults) >= _MOST_FAULTS:
                break
        if faults:
            raise _unfit(faults, self.space)
        return turns

    def _given(self, value: Any) -> Sequence[Any]:  # noqa: ANN401 - JSON
        if not isinstance(value, dict):
            detail = f'a body is a turn, or {{"turns": [turn, ...]}}, and no {type(value).__name__}'
            raise _unfit([{"field": "body", "message": detail}], self.space)
        if "turns" not in value:
            return [value]
        others, turns = value.keys() - {"turns"}, value["turns"]
        if others or not isinstance(turns, list) or not turns:
            detail = 'write {"turns": [turn, ...]}, with one turn at least and nothing beside it'
            raise _unfit([{"field": "turns", "message": detail}], self.space)
        if len(turns) > self.most:
            detail = f"{len(turns)} turns in a request, and {self.most} are the most: send them in several"
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many-turns", detail)
        return turns

    def _turn(self, value: Any) -> PublishedTurn | list[dict[str, str]]:  # noqa: ANN401 - JSON
        if isinstance(value, dict) and value.get("kind", "turn") != "turn":
            return [{"field": "kind", "message": "only turns can be published; other events are the system's own"}]
        try:
            turn = PublishedTurn.model_validate_json(_spelled(value))
        except ValidationError as error:
            return [{"field": field, "message": message} for field, message in _faults(error)]
        if turn.space is not None and turn.space != self.space:
            return [{"field": "space", "message": f"it names {turn.space}, and the path {self.space}"}]
        reason = self._unreadable(turn)
        return [{"field": "text", "message": reason}] if reason else turn.model_copy(update={"space": self.space})

    def _unreadable(self, turn: PublishedTurn) -> str | None:
        """Say why ``normalize`` would refuse the text, so that its sender hears of it now."""
        cleaned = cleaned_turn(turn)
        if is_blank(cleaned):
            return "it has nothing to read in its text or captions: leave it out"
        length = len(full_text(cleaned))
        if length > self.max_text:
            return f"it has {length} characters with its captions, and the limit is {self.max_text}: publish several"
        return None


def encoded(turn: PublishedTurn) -> bytes:
    """Return a turn as the log holds it: what its sender wrote of it, and its space."""
    return turn.model_dump_json(exclude_unset=True).encode()


def token(turn: PublishedTurn) -> str:
    """Return the causal token of a turn."""
    return f"{turn.turn_id}@{turn.revision}" if turn.revision else turn.turn_id


def _json(body: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        detail = f"the body is no JSON that can be read: {error}"
        raise Problem(HTTPStatus.BAD_REQUEST, "not-json", detail) from None


def _spelled(value: Any) -> bytes:  # noqa: ANN401 - JSON
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        detail = f"the body holds what cannot be read: {error}"
        raise Problem(HTTPStatus.BAD_REQUEST, "not-json", detail) from None


def _faults(error: ValidationError) -> Iterator[tuple[str, str]]:
    for fault in error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_FAULTS]:
        yield ".".join(map(str, fault["loc"])) or "body", fault["msg"].removeprefix("Value error, ")


def _named(value: object) -> str | None:
    named = value.get("turn_id") if isinstance(value, dict) else None
    return named[:256] if isinstance(named, str) else None


def _unfit(faults: Sequence[Mapping[str, Any]], what: str) -> Problem:
    first = faults[0]
    where = f"turn {first['turn']} ({first['turn_id']!r}), " if "turn" in first else ""
    detail = f"{what}: {where}{first['field']}: {first['message']}"
    more = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
    none = "; no turn of this request was taken" if "turn" in first else ""
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "unfit", detail + more + none, faults=faults)
