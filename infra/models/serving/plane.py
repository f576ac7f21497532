"""The model plane on Ray Serve. This package alone imports Ray (an import contract says so).

``switches.set_switches`` comes before this module is imported by a process that is going to serve.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import ray
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from infra.embedders import make_embedder
from infra.models.serving.config import PlaneConfig
from infra.models.serving.language import language_application
from infra.models.serving.requests import Answer, embeddings, named, rerank
from infra.rerankers import reranker_of

_STORE: Final = 80 * 1024 * 1024
"""Bytes of Ray's object store, about its least: requests go by messages, nothing is stored."""

logging.getLogger("ray.serve").setLevel(logging.WARNING)  # what a start takes is told once, when it is done


class EmbeddingsReplica:
    """A model behind ``POST /v1/embeddings``.

    Concurrent requests are merged by the model's own pool, in calls of fixed rows (invariant 4), and free cores begin
    the next call while another still runs. Ray's own batching would hold each answer until its whole batch is done.
    """

    def __init__(self, choice: str, threads: int | None) -> None:
        self._looks = count()
        self._embedder = make_embedder(choice, threads=threads or os.cpu_count())  # Ray tells libraries to use one

    async def check_health(self) -> None:
        """Load the model; a replica gets no request before this has ended."""
        await self._embedder.embed_query(f"health {next(self._looks)}")  # the same again would come from its cache

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        return _response(await embeddings(self._embedder, await request.body()))

    def about(self) -> dict[str, Any]:
        """Return what the list of models says of it."""
        return named(self._embedder.model).entry("embeddings") | {"dimension": self._embedder.dimension}


class RerankerReplica:
    """A cross-encoder behind ``POST /v1/rerank``; concurrent requests share calls of fixed rows, as above."""

    def __init__(self, choice: str, threads: int | None) -> None:
        self._looks = count()
        self._reranker = reranker_of(choice, threads or os.cpu_count())

    async def check_health(self) -> None:
        """Load the model."""
        await self._reranker.score("health", [f"health {next(self._looks)}"])  # as above

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        return _response(await rerank(self._reranker, await request.body()))

    def about(self) -> dict[str, Any]:
        """Return what the list of models says of it."""
        return named(self._reranker.model).entry("rerank")


class FrontReplica:
    """``/v1/models`` and ``/healthz``; the models say themselves what they are, once."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._cards: list[dict[str, Any]] = []

    async def __call__(self, request: Request) -> Response:
        """Answer a request; whoever asks for another page hears which there are."""
        if request.url.path == "/healthz":
            return PlainTextResponse("ok")
        if request.url.path == "/v1/models":
            return JSONResponse({"object": "list", "data": await self._listed()})
        known = "POST /v1/embeddings and /v1/rerank where they are served, GET /v1/models, GET /healthz"
        return JSONResponse({"error": {"message": f"there is {known}"}}, HTTPStatus.NOT_FOUND)

    async def _listed(self) -> list[dict[str, Any]]:
        if not self._cards:
            handles = [serve.get_app_handle(name) for name in self._names]
            self._cards = list(await asyncio.gather(*(handle.about.remote() for handle in handles)))
        return self._cards


def _response(answer: Answer) -> Response:
    return JSONResponse(answer.body, answer.status)


def _applications(config: PlaneConfig) -> Iterator[tuple[str, str, Any]]:
    """Give name, path and application of each model, then of the front."""
    names = []
    if (part := config.embeddings) is not None:
        made = serve.deployment(EmbeddingsReplica, name="embeddings", **part.deployment)
        yield "embeddings", "/v1/embeddings", made.bind(part.model, part.threads)
        names.append("embeddings")
    if (other := config.reranker) is not None:
        judge = serve.deployment(RerankerReplica, name="reranker", **other.deployment)
        yield "reranker", "/v1/rerank", judge.bind(other.model, other.threads)
        names.append("reranker")
    if (language := config.language) is not None:
        yield "language", "/language", language_application(language)
    front = serve.deployment(FrontReplica, name="front", ray_actor_options={"num_cpus": 0})
    yield "front", "/", front.bind(names)


def start(config: PlaneConfig) -> None:
    """Start Ray on this machine and all that the configuration names; returns when every model is loaded."""
    ray.init(
        address="local",
        num_cpus=_cpus(config),
        include_dashboard=False,
        object_store_memory=_STORE,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _node_ip_address="127.0.0.1",
    )
    serve.start(proxy_location="HeadOnly", http_options={"host": config.host, "port": config.port})
    quiet = {"enable_access_log": False}
    serve.run_many([serve.RunTarget(made, name, path, quiet) for name, path, made in _applications(config)])


def _cpus(config: PlaneConfig) -> int:
    """Return the cores that Ray may give away: as many as there are, or as the models at their most ask for.

    What runs at once is for the system to share; a replica that waits for a core to be counted free would never come.
    """
    parts = [part for part in (config.embeddings, config.reranker, config.language) if part is not None]
    return max(os.cpu_count() or 1, math.ceil(sum(part.replicas_max * part.cpus for part in parts)))


def stop() -> None:
    """End all that was started here, requests that run first."""
    if ray.is_initialized():
        for name in serve.status().applications:
            serve.delete(name)
    ray.shutdown()


async def run(config: PlaneConfig, ready: asyncio.Event) -> None:
    """Serve until cancelled; ``ready`` is set when all models are.

    Ray is begun and ended by one thread that lives in between: what it starts dies with the thread that started it,
    and in the main thread it would take the signals that end this process.
    """
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, "anabranch-models") as thread:
        try:
            await loop.run_in_executor(thread, start, config)
            ready.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.shield(loop.run_in_executor(thread, stop))
