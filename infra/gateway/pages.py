"""Pages for machines that look after the gateway: health, readiness, figures. They need no key and name no space."""

from __future__ import annotations

import logging
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.errors import MissingError
from infra.gateway.bodies import Health, Ready
from infra.gateway.routes import gateway_of
from stages.contract import Unavailable

router = APIRouter()
_log = logging.getLogger(__name__)


@router.get("/healthz", response_class=JSONResponse, response_model=Health)
async def healthz() -> Response:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


@router.get(
    "/readyz",
    response_class=JSONResponse,
    response_model=Ready,
    responses={int(HTTPStatus.SERVICE_UNAVAILABLE): {"model": Ready, "description": "A part does not answer."}},
)
async def readyz(request: Request, exclude: Annotated[list[str] | None, Query()] = None) -> Response:
    """Say what answers and what does not: 503 if anything does not, parts that `exclude` names left out.

    Why a part does not answer is in the gateway's log: that may name spaces, and who asks here has no key.
    """
    parts = await gateway_of(request).served.parts()
    away = {name: reason for name, reason in parts.items() if reason is not None}
    for name, reason in away.items():
        _log.warning("%s does not answer: %s", name, reason, extra={"event": "not ready", "part": name})
    ready = not away.keys() - set(exclude or ())
    body = {"ready": ready, "parts": {name: "ok" if name not in away else "does not answer" for name in parts}}
    return JSONResponse(body, HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE)


@router.get("/metrics", response_class=Response, response_model=None)
async def metrics(request: Request) -> Response:
    """Return the figures for Prometheus."""
    gateway = gateway_of(request)
    try:
        pending = await gateway.served.pending()
    except (Unavailable, MissingError):
        pending = None
    if pending is not None:
        gateway.figures.pending.set(pending)
    with suppress(Unavailable, MissingError):  # what was told before stands
        gateway.figures.told_of_nights(await gateway.served.consolidated())
    return Response(gateway.figures.page(), media_type="text/plain; version=0.0.4; charset=utf-8")
