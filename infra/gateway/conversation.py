"""What every request has: an id, a line in the log, a place in the figures, and an answer even where code fails."""

from __future__ import annotations

import logging
import re
import secrets  # noqa: TID251 - an id of a request is nothing that memory rests on
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from infra.gateway.figures import Figures
from infra.gateway.problems import Problem, answer

HEADER: Final = "X-Request-Id"
_SANE: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SILENT: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: they would fill the log."""
_METHODS: Final = frozenset({"GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"})

_now = time.perf_counter  # noqa: TID251 - how long an answer took is a measurement
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Answer:
    """What is known of an answer when it has begun."""

    status: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """The outermost part of the application."""

    app: ASGIApp
    figures: Figures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = _id(Headers(scope=scope).get(HEADER))
        began, told = _now(), _Answer()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                told.status = message["status"]
                MutableHeaders(scope=message)[HEADER] = state["request_id"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except ClientDisconnect:
            pass  # it went away before its request was whole: nothing was done, and nobody hears of it
        except Exception:
            _log.exception("a request failed: a bug", extra={"event": "failed", "request_id": state["request_id"]})
            if told.status:
                raise
            await _failed(scope)(scope, receive, sending)
        finally:
            self._tell(scope, told.status, _now() - began)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        state, route = scope["state"], getattr(scope.get("route"), "path_format", None) or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.figures.answered(route, method, status, seconds)
        if (kind := state.get("problem")) is not None:
            self.figures.refused.labels(kind).inc()
        if route in _SILENT:
            return
        key = state.get("key")
        about: dict[str, Any] = {"event": "request", "request_id": state["request_id"], "method": method}
        about |= {"path": scope["path"][:300], "status": status, "ms": round(1000 * seconds, 1)}
        about |= {"problem": kind, "key": key.key_id if key else None, "tenant": key.tenant if key else None}
        _log.info("%s %s %d", method, route, status, extra=about)


def _id(given: str | None) -> str:
    return given if given is not None and _SANE.fullmatch(given) else secrets.token_hex(12)


def _failed(scope: Scope) -> ASGIApp:
    detail = "the gateway has a bug that this request shows; its log has the traceback under the request's id"
    return answer(Request(scope), Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "bug", detail))
