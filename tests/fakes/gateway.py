"""The gateway for tests: over a small memory, over a real one in process, and as a server in a thread."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from infra.answering import Answering
from infra.as_of import AsOf
from infra.gateway.app import create_app
from infra.gateway.embedded import open_served
from infra.gateway.figures import Figures
from infra.gateway.keys import KeyBook, KeyFile
from infra.gateway.limits import Buckets
from infra.gateway.routes import Gateway
from infra.gateway.served import Served
from infra.loop_thread import LoopThread
from infra.memory_api import TurnState
from infra.settings import Settings
from schemas.answer import Answer, Asked
from schemas.localized import Placement, Rule
from schemas.memory import OutcomeState
from schemas.recall import Bundle, ContextInput, Question, Recalled
from schemas.space import Space
from streams.codec import peek
from tests.fakes.searching import Finds

AT = "2026-03-01T18:22:05+01:00"


def spoken(turn_id: str, text: str = "The kitchen floor gave way.", **more: Any) -> dict[str, Any]:
    """Return a turn as a bot sends it."""
    return {"turn_id": turn_id, "speaker": {"id": "mia", "name": "Mia"}, "text": text, "at": AT} | more


@dataclass
class SmallServed:
    """Implements ``Served`` on a list. ``fault`` is raised by whatever is asked.

    ``asked`` holds the questions, ``answered`` those that wanted an answer.
    """

    log: list[tuple[Space, bytes]] = field(default_factory=list)
    asked: list[tuple[Question, str | None]] = field(default_factory=list)
    fault: Exception | None = None
    answered: list[tuple[Asked, str | None]] = field(default_factory=list)

    async def publish(self, space: Space, turns: Sequence[bytes]) -> None:
        self._may_fail()
        self.log += [(space, turn) for turn in turns]

    async def recall(self, space: Space, question: Question, after: str | None) -> Recalled:
        self._may_fail()
        self.asked.append((question, after))
        return Recalled(id=None, hits=(), stale=False, behind=0, took_ms=0.1)

    async def answer(self, space: Space, asked: Asked, after: str | None) -> Answer:
        self._may_fail()
        self.answered.append((asked, after))
        first = await self.recall(space, asked.question, after)
        return await Answering().answer(Finds(first), space, asked, first, perf_counter())

    async def position(self, space: Space, as_of: AsOf) -> int:
        self._may_fail()
        return as_of.position(space, ())

    async def context(self, space: Space, request: ContextInput, budget: int) -> Bundle:
        self._may_fail()
        return Bundle(id=None, placement=Placement(rule=Rule.NEW_ROOT, branch=0, interaction=0), lines=(), tokens=0)

    async def turn(self, space: Space, turn_id: str) -> TurnState | None:
        self._may_fail()
        ids = [peek(turn).event_id for of, turn in self.log if of == space]
        return TurnState(turn_id, ids.index(turn_id), OutcomeState.COMMITTED) if turn_id in ids else None

    async def parts(self) -> Mapping[str, str | None]:
        return {"log": None, "index": None if self.fault is None else str(self.fault)}

    async def pending(self) -> int | None:
        self._may_fail()
        return len(self.log)

    async def consolidated(self) -> Mapping[str, datetime]:
        self._may_fail()
        return {"acme": datetime(2026, 3, 2, 3, tzinfo=UTC)}

    def _may_fail(self) -> None:
        if self.fault is not None:
            raise self.fault


def settings_of(folder: Path, **more: Any) -> Settings:
    """Return settings of an embedded home with the hash embedder."""
    return Settings(home=folder / "home", embedder="hash").model_copy(update=more)


def gateway(served: Served, settings: Settings) -> FastAPI:
    """Return the application."""
    keys, buckets = KeyBook(settings.key_file), Buckets(settings.gateway_rate)
    return create_app(Gateway(served, keys, buckets, settings, Figures.fresh()))


def keyed(settings: Settings, tenant: str = "acme") -> dict[str, str]:
    """Return the headers of a bot that has a new key."""
    return {"Authorization": f"Bearer {KeyFile(settings.key_file).create(tenant)[1]}"}


def client_of(app: FastAPI, headers: Mapping[str, str]) -> httpx.AsyncClient:
    """Return a client that talks to the application without a socket."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=dict(headers), timeout=60)


@asynccontextmanager
async def real(settings: Settings, tenant: str = "acme") -> AsyncIterator[httpx.AsyncClient]:
    """Give a bot's client of the gateway over a real embedded memory."""
    async with open_served(settings) as served, client_of(gateway(served, settings), keyed(settings, tenant)) as client:
        yield client


@dataclass(frozen=True)
class Running:
    """A server in this process."""

    url: str
    app: FastAPI


@contextmanager
def running(
    settings: Settings, opened: Callable[[Settings], AbstractAsyncContextManager[Served]] = open_served
) -> Iterator[Running]:
    """Give a gateway that listens, in a thread of its own."""
    with LoopThread("gateway") as thread, socket.create_server(("127.0.0.1", 0)) as listener:
        begun: asyncio.Queue[uvicorn.Server] = thread.call(_queue())
        living = asyncio.run_coroutine_threadsafe(_live(settings, opened, listener, begun), thread._loop)
        server = thread.call(begun.get())
        try:
            app: Any = server.config.app
            yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}", app)
        finally:
            server.should_exit = True
            living.result(30)


async def _queue() -> asyncio.Queue[uvicorn.Server]:
    return asyncio.Queue()


async def _live(
    settings: Settings,
    opened: Callable[[Settings], AbstractAsyncContextManager[Served]],
    listener: socket.socket,
    begun: asyncio.Queue[uvicorn.Server],
) -> None:
    async with opened(settings) as served:
        config = uvicorn.Config(gateway(served, settings), log_config=None, lifespan="off", access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        begun.put_nowait(server)
        await serving
