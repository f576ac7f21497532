"""Running the gateway: a socket, the memory behind it, and an end that leaves no request without an answer."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import uvicorn

from infra.errors import MissingError, UsageError
from infra.gateway.app import create_app
from infra.gateway.figures import Figures
from infra.gateway.keys import KeyBook, KeyFile
from infra.gateway.limits import Buckets
from infra.gateway.renewal import Renewal
from infra.gateway.routes import Gateway
from infra.gateway.served import PATIENCE_S, Served
from infra.settings import Settings
from streams.metrics import ModelCounts

if TYPE_CHECKING:
    from infra.nights.serving import Nightly

_LEAVE_S: Final = int(PATIENCE_S) + 5
"""Seconds for requests under way when the gateway ends: a recall that waits for a turn. An answer may take longer; one
that is cut off then is asked again, and changed nothing."""

_KEEP_S: Final = 75
"""Seconds that an idle connection stays: longer than clients and balancers keep theirs, who would else meet a reset."""

_SWITCH_S: Final = 0.0005
"""Seconds until a busy thread hands the interpreter over; Python's own choice, 0.005, would be added to each request
several times over while stages work in the thread beside."""

_log = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """Tells when it listens, and leaves signals to who runs it."""

    def __init__(self, config: uvicorn.Config, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._listens = listens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self._listens()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone: it would end the process by the signal before the home is closed."""
        yield

    def leave(self) -> None:
        """Stop accepting and finish what is under way; at the second call at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


@dataclass(frozen=True, slots=True)
class Beside:
    """What is done to a home while it is served: another index or generation built, a consolidation each night."""

    renewal: Renewal | None = None
    nightly: Nightly | None = None


async def serve(
    settings: Settings, host: str, port: int, told: Callable[[str], None], beside: Beside = Beside()
) -> None:
    """Serve the memory of the settings until SIGTERM or Ctrl-C; ``told`` hears the address once it answers.

    Raises:
        UsageError: if something is to be done ``beside`` on Kafka.
        MissingError: if the port cannot be had, the home is another's, or a model or service is missing.
    """
    sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
    with closing(_bound(host, port)) as listener, closing(KeyBook(settings.key_file)) as keys:
        figures = Figures.fresh()
        async with _opened(settings, beside, figures.models) as served:
            await _run(Gateway(served, keys, Buckets(settings.gateway_rate), settings, figures), listener, told)


@asynccontextmanager
async def _opened(settings: Settings, beside: Beside, models: ModelCounts) -> AsyncIterator[Served]:
    if settings.kafka is not None:
        if beside.renewal is not None:
            msg = "on Kafka a reindex is a process of its own: `anabranch reindex --vectors` or `--derive`"
            raise UsageError(msg)
        if beside.nightly is not None:
            msg = "on Kafka a consolidation is a process of its own: run `anabranch consolidate` by cron"
            raise UsageError(msg)
        from infra.gateway.remote import open_served as open_remote  # noqa: PLC0415 - embedded without clients

        async with open_remote(settings, counts=models) as remote:
            yield remote
        return
    from infra.gateway.embedded import open_served  # noqa: PLC0415 - workers' mode without an index in process

    async with open_served(settings, renewal=beside.renewal, counts=models, nightly=beside.nightly) as served:
        yield served


async def _run(gateway: Gateway, listener: socket.socket, told: Callable[[str], None]) -> None:
    address = _address(listener)
    config = uvicorn.Config(
        create_app(gateway),
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_S,
        timeout_graceful_shutdown=_LEAVE_S,
    )

    def listens() -> None:
        told(address)
        _log.info("the gateway answers on %s", address, extra={"event": "started"})

    server = _Server(config, listens)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.leave)
    if not any(key.revoked is None for key in KeyFile(gateway.settings.key_file).every()):
        _log.warning("there is no API key yet: `anabranch keys create --tenant NAME` makes one")
    warming = asyncio.create_task(gateway.served.parts())  # a model loads at its first text
    await server.serve([listener])
    warming.cancel()
    _log.info("the gateway ends", extra={"event": "ended"})


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except OSError as error:
        msg = f"port {port} of {host} cannot be had ({error.strerror}): choose another with --host and --port"
        raise MissingError(msg) from error
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
