"""Servers of models on 127.0.0.1: the real protocol over real ports, and one that misbehaves as it is told."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from infra.models.serving.requests import Answer, embeddings, named, rerank
from stages.ports import Embedder, Reranker


@dataclass
class ModelServer:
    """Serves an embedder and a reranker, as the Ray deployments do. ``instead`` stands in for answers, by path.

    ``asked`` are the paths and bodies of all requests.
    """

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    instead: dict[str, list[Response]] = field(default_factory=dict)
    asked: list[tuple[str, bytes]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        path = request.url.path.rpartition("/")[2]
        body = await request.body()
        self.asked.append((path, body))
        self.headers.append(dict(request.headers))
        waiting = self.instead.get(path)
        if waiting:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return await self._real(path, body)

    async def _real(self, path: str, body: bytes) -> Response:
        if path == "embeddings" and self.embedder is not None:
            return _json(await embeddings(self.embedder, body))
        if path == "rerank" and self.reranker is not None:
            return _json(await rerank(self.reranker, body))
        ports = {"embeddings": self.embedder, "rerank": self.reranker}
        cards = [named(port.model).entry(kind) for kind, port in ports.items() if port is not None]
        return JSONResponse({"object": "list", "data": cards}, 200 if path == "models" else 404)


def vectors(*rows: Any, **more: Any) -> Response:
    """An answer of vectors in their order."""
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return JSONResponse({"data": data} | more)


def scores(*given: Any) -> Response:
    return JSONResponse({"results": [{"index": index, "relevance_score": one} for index, one in enumerate(given)]})


def cut_short() -> Response:
    """An answer whose connection ends in the middle."""

    async def parts() -> AsyncIterator[bytes]:
        yield b'{"data": ['
        msg = "cut"
        raise ConnectionResetError(msg)

    return StreamingResponse(parts(), headers={"content-length": "1000"}, media_type="application/json")


def trickle(count: int) -> Response:
    """An answer of many small parts."""

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b" "

    return StreamingResponse(parts(), media_type="application/json")


@contextmanager
def serving(server: ModelServer) -> Iterator[str]:
    """Serve in a thread; gives the URL up to ``/v1``."""
    routes = [Route("/v1/{path}", server.answer, methods=["GET", "POST"])]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_level="critical", lifespan="off")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{_port(running.servers)}/v1"
    finally:
        running.should_exit = True
        thread.join()


def _port(servers: Sequence[Any]) -> int:
    return int(servers[0].sockets[0].getsockname()[1])


def _json(answer: Answer) -> Response:
    return JSONResponse(answer.body, answer.status)
