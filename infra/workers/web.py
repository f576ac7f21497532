"""The pages of a worker, for this machine only unless told otherwise: health, readiness, figures, status."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final, Protocol

from aiohttp import web

from infra.errors import MissingError

HOST: Final = "127.0.0.1"
"""Pages name spaces in reasons and have no keys: nobody outside this machine may read them, unless the operator says
where else they are (``ANABRANCH_WORKER_HOST``), as in a container that Prometheus and probes reach from outside."""


class Pages(Protocol):
    """What the pages say."""

    def unwell(self) -> str | None:
        """Return why the worker gets nowhere, or ``None``."""
        ...

    def unready(self) -> str | None:
        """Return why it does not work yet, or ``None``."""
        ...

    def figures(self) -> bytes:
        """Return the figures for Prometheus."""
        ...

    def status(self) -> dict[str, Any]:
        """Return everything for people."""
        ...


@asynccontextmanager
async def serving(pages: Pages, port: int, host: str = HOST) -> AsyncIterator[int]:
    """Serve the pages inside the block at ``host``, on ``port`` or (0) a free one; give the port.

    Raises:
        MissingError: if the port is taken, or the address is none of this machine's.
    """
    app = web.Application()
    app.add_routes(
        [
            web.get("/healthz", _judged(pages.unwell)),
            web.get("/readyz", _judged(pages.unready)),
            web.get("/metrics", _figures(pages)),
            web.get("/status", _status(pages)),
        ]
    )
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            msg = f"port {port} of {host} cannot be had ({error.strerror}): choose another with --port, or none"
            raise MissingError(msg) from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


_Handler = Callable[[web.Request], Awaitable[web.Response]]


def _judged(reason: Callable[[], str | None]) -> _Handler:
    async def page(_request: web.Request) -> web.Response:
        said = reason()
        return web.Response(text=f"{said or 'ok'}\n", status=HTTPStatus.SERVICE_UNAVAILABLE if said else HTTPStatus.OK)

    return page


def _figures(pages: Pages) -> _Handler:
    async def page(_request: web.Request) -> web.Response:
        return web.Response(body=pages.figures(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    return page


def _status(pages: Pages) -> _Handler:
    async def page(_request: web.Request) -> web.Response:
        return web.json_response(pages.status())

    return page
