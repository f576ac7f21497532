"""Calls of a served model end, each at its time, and leave a server alone that asks for it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import pytest
from starlette.responses import PlainTextResponse

from infra.address import Address
from infra.loop_thread import LoopThread
from infra.models import HashEmbedder
from infra.models.endpoint import Endpoint
from stages.contract import Unavailable
from tests.fakes.model_server import ModelServer, serving, trickle, vectors


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(HashEmbedder())


@dataclass
class Clock:
    """Seconds that pass only when they are told to: ``step`` at each look."""

    now: float = 100.0
    step: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


async def test_a_server_that_asks_for_a_rest_gets_it(server: ModelServer) -> None:
    clock = Clock()
    with serving(server) as url:
        endpoint = Endpoint(Address.read(f"{url}#hash"), None, 5.0, clock=clock)
        server.instead["embeddings"] = [PlainTextResponse("full", 503, {"retry-after": "7"}), vectors([1.0])]
        for told in ("503", "rest, 7 s"):
            with pytest.raises(Unavailable, match=told):
                endpoint.post("embeddings", {})
        assert len(server.asked) == 1
        clock.now += 7.5
        assert endpoint.post("embeddings", {})["data"]
        endpoint.close()


def test_an_answer_that_trickles_ends_at_its_time(server: ModelServer) -> None:
    clock = Clock(step=1.0)
    server.instead["embeddings"] = [trickle(50)]
    with serving(server) as url:
        endpoint = Endpoint(Address.read(f"{url}#hash"), None, 5.0, clock=clock)
        with pytest.raises(Unavailable, match="over 5 s"):
            endpoint.post("embeddings", {})
        endpoint.close()


def test_headers_that_drip_end_at_their_time() -> None:
    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"x: y\r\n")
                await writer.drain()
                await asyncio.sleep(0.02)

    with LoopThread() as thread:
        server = thread.call(asyncio.start_server(drip, "127.0.0.1", 0))
        endpoint = Endpoint(Address(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "m"), None, 0.2)
        with pytest.raises(Unavailable, match=r"over 0\.2 s"):
            endpoint.post("embeddings", {})
        endpoint.close()
        server.close()


def test_who_waits_when_it_is_closed_has_no_answer() -> None:
    """A thread that waits on would hold up the end of its process."""
    reached = threading.Event()

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        reached.set()
        await reader.read()

    with LoopThread() as thread, ThreadPoolExecutor(1) as threads:
        server = thread.call(asyncio.start_server(hang, "127.0.0.1", 0))
        endpoint = Endpoint(Address(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "m"), None, 60.0)
        waiting = threads.submit(endpoint.post, "embeddings", {})
        assert reached.wait(10)
        endpoint.close()
        with pytest.raises(Unavailable, match="closed"):
            waiting.result(10)
        with pytest.raises(Unavailable, match="closed"):
            endpoint.post("embeddings", {})
        server.close()
