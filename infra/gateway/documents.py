"""What the OpenAPI document says that FastAPI cannot see: bodies that are read here, and problems."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from infra.gateway import bodies
from infra.gateway.problems import MEDIA
from schemas.answer import Answer
from schemas.recall import Recalled

_REF: Final = "#/components/schemas/{model}"
_GIVEN: Final = (
    bodies.PublishedTurn,
    bodies.PublishedTurns,
    bodies.RecallRequest,
    bodies.AnswerRequest,
    bodies.ContextRequest,
)
_TOLD: Final = (
    *(bodies.Accepted, Recalled, Answer, bodies.Context, bodies.TurnAnswer, bodies.ProblemAnswer),
    *(bodies.Health, bodies.Ready),
)

_PROBLEMS: Final = {
    HTTPStatus.BAD_REQUEST: "The body is no JSON.",
    HTTPStatus.UNAUTHORIZED: "No key, or one that is unknown or revoked.",
    HTTPStatus.NOT_FOUND: "Nothing is there for this key: another tenant's space looks like one that is not there.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large, or has too many turns.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body says that it is no JSON.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Something in it cannot be taken; `errors` say what and where.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests of this key, or too many pending turns of this space.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "A bug of the gateway.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The log, the index or the model does not answer.",
}
_LATER: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_OF_BODIES: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}
)
_EXAMPLES: Final[dict[str, tuple[tuple[type[BaseModel], ...], dict[str, Any]]]] = {
    "turns": (
        (bodies.PublishedTurn, bodies.PublishedTurns),
        {
            "one": {"summary": "One turn", "value": bodies.EXAMPLE_TURN},
            "several": {
                "summary": "Several turns",
                "value": {"turns": [bodies.EXAMPLE_TURN, bodies.EXAMPLE_REPLY]},
            },
        },
    ),
    "recall": ((bodies.RecallRequest,), {"question": {"value": bodies.EXAMPLE_QUESTION}}),
    "answer": ((bodies.AnswerRequest,), {"question": {"value": bodies.EXAMPLE_ANSWERED}}),
    "context": ((bodies.ContextRequest,), {"turn": {"value": bodies.EXAMPLE_CONTEXT}}),
}


def asked(what: str) -> dict[str, Any]:
    """Return the arguments of a route that say what its body is."""
    models, examples = _EXAMPLES[what]
    refs = [_ref(model) for model in models]
    content = {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}, "examples": examples}
    return {"openapi_extra": {"requestBody": {"required": True, "content": {"application/json": content}}}}


def told(model: type[BaseModel], status: HTTPStatus = HTTPStatus.OK, *, body: bool = True) -> dict[str, Any]:
    """Return the arguments of a route that say what it answers; ``body``: its requests have one."""
    problems = {code: text for code, text in _PROBLEMS.items() if body or code not in _OF_BODIES}
    answers: dict[int | str, dict[str, Any]] = {int(status): _answer(status.phrase, model, "application/json")}
    answers |= {int(code): _answer(text, bodies.ProblemAnswer, MEDIA, code) for code, text in problems.items()}
    return {"response_model": None, "responses": answers}


def _answer(text: str, model: type[BaseModel], media: str, status: HTTPStatus | None = None) -> dict[str, Any]:
    headers = {"X-Request-Id": {"description": "Names the request in logs.", "schema": {"type": "string"}}}
    if status in _LATER:
        headers["Retry-After"] = {"description": "Seconds to wait.", "schema": {"type": "string"}}
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = {"description": "Bearer.", "schema": {"type": "string"}}
    return {"description": text, "content": {media: {"schema": _ref(model)}}, "headers": headers}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of the application."""
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    models: list[tuple[type[BaseModel], Any]] = [(model, "validation") for model in _GIVEN]
    models += [(model, "serialization") for model in _TOLD]
    _, defined = models_json_schema(models, ref_template=_REF)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas |= defined["$defs"]
    schemas["PublishedTurn"]["properties"]["text"] |= {"pattern": r"\S"}  # else an attachment has to have a caption
    return made
