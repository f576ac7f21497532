"""Errors as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse

MEDIA: Final = "application/problem+json"
_URN: Final = "urn:anabranch:problem:"

BUSY_S: Final = 1.0
"""Seconds after which to try again what does not answer now: clients draw their own pauses around it."""


class Problem(Exception):  # noqa: N818 - the standard's own name
    """An answer that is no success. ``kind`` is the last word of its type, ``faults`` say what is wrong where.

    ``retry_s`` are seconds until it makes sense to ask again.
    """

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        detail: str,
        *,
        faults: Sequence[Mapping[str, Any]] = (),
        retry_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.faults = status, kind, detail, faults
        self.headers = dict(headers or {})
        if retry_s is not None:
            self.headers["Retry-After"] = str(max(1, math.ceil(retry_s)))

    def body(self, instance: str, request_id: str) -> dict[str, Any]:
        """Return the members of the answer."""
        told: dict[str, Any] = {
            "type": _URN + self.kind,
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
            "instance": instance,
            "request_id": request_id,
        }
        return told | ({"errors": list(self.faults)} if self.faults else {})


def answer(request: Request, problem: Problem) -> JSONResponse:
    """Return a problem as a response."""
    request.state.problem = problem.kind
    body = problem.body(request.url.path, request.state.request_id)
    return JSONResponse(body, int(problem.status), problem.headers, MEDIA)


def unavailable(what: str) -> Problem:
    """Return that something does not answer."""
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", what, retry_s=BUSY_S)


def not_found() -> Problem:
    """Return the answer for what is not there, or not this tenant's: nobody can tell which."""
    return Problem(HTTPStatus.NOT_FOUND, "not-found", "there is nothing at this address for this key")
