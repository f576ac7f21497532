"""The application: routes, pages and errors over a memory that is served."""

from __future__ import annotations

import logging
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from infra.errors import AnabranchError
from infra.gateway import pages, routes
from infra.gateway.conversation import Conversation
from infra.gateway.documents import document
from infra.gateway.problems import Problem, answer, unavailable
from infra.gateway.routes import Gateway
from infra.gateway.served import LONG_S, TooLarge, TooManyPending
from stages.contract import Unavailable

_log = logging.getLogger(__name__)

_ABOUT: Final = """\
Long-term memory of dialogue agents. Bots publish turns; memory answers questions with the turns that it rests on.

A turn that is accepted is in the log; it is in memory a moment later. Give the `after` of an accepted request to a
recall, and it knows of that turn, or says that it is stale. Errors are `application/problem+json`.
"""


def create_app(gateway: Gateway) -> FastAPI:
    """Return the application."""
    app = FastAPIOffline(  # its page brings its own scripts: it shows where nothing else can be reached
        title="Anabranch gateway",
        version=version("anabranch"),
        description=_ABOUT,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.gateway = gateway
    app.add_middleware(Conversation, figures=gateway.figures)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(TooManyPending, _too_many)
    app.add_exception_handler(TooLarge, _too_large)
    app.add_exception_handler(Unavailable, _away)
    app.add_exception_handler(AnabranchError, _away)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(RequestValidationError, _wrong)
    app.include_router(routes.router)
    app.include_router(pages.router)
    app.openapi = _kept(app)  # type: ignore[method-assign]  # the framework's own way
    return app


def _kept(app: FastAPI) -> partial[dict[str, object]]:
    made: dict[str, object] = {}

    def once() -> dict[str, object]:
        if not made:
            made.update(document(app))
        return made

    return partial(once)


async def _problem(request: Request, error: Exception) -> Response:
    if not isinstance(error, Problem):
        raise error
    return answer(request, error)


async def _too_many(request: Request, error: Exception) -> Response:
    return answer(request, Problem(HTTPStatus.TOO_MANY_REQUESTS, "pending", str(error), retry_s=LONG_S))


async def _too_large(request: Request, error: Exception) -> Response:
    return answer(request, Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", str(error)))


async def _away(request: Request, error: Exception) -> Response:
    """Say that something does not answer; what it is, and where, is the operator's to know."""
    told = {"event": "unavailable", "request_id": request.state.request_id}
    _log.warning("a request cannot be answered: %s", error, extra=told)
    return answer(request, unavailable("a part of the memory does not answer now: send the same again"))


async def _plain(request: Request, error: Exception) -> Response:
    """Return what the framework found: no such address, no such method."""
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "-")
    return answer(request, Problem(status, kind, str(error.detail), headers=error.headers))


async def _wrong(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [{"field": ".".join(map(str, one["loc"])), "message": one["msg"]} for one in error.errors()]
    detail = "; ".join(f"{one['field']}: {one['message']}" for one in faults)
    return answer(request, Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "unfit", detail, faults=faults))
