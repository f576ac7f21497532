"""The model plane as a process: started once for all of these, overloaded, a replica killed, stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from infra.bench.embeddings_run import Load, loading
from infra.bench.model_process import ModelProcess
from infra.models import HashEmbedder
from infra.models.http_embedder import HttpEmbedder

CONFIG = """
[embeddings]
model = "hash"
at_once = 1
waiting = 1
cpus = 0.5
"""
TEXTS = [f"crate {number} of herring" for number in range(16 * 60)]
"""Requests enough to kill a replica among them."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ModelProcess]:
    pytest.importorskip("ray", reason="the extra `serve` is not installed")
    folder = tmp_path_factory.mktemp("plane")
    (folder / "models.toml").write_text(CONFIG)
    process = ModelProcess(folder, ["--config", str(folder / "models.toml")])
    await process.start()
    yield process
    await process.stop()


@pytest.mark.asyncio(loop_scope="module")
class TestPlane:
    """In this order: the last ends the plane."""

    async def test_it_says_what_it_serves_and_serves_it(self, plane: ModelProcess) -> None:
        async with httpx.AsyncClient(base_url=plane.url) as client:
            (card,) = (await client.get("/models")).json()["data"]
            assert (card["id"], card["revision"], card["dimension"], card["kind"]) == ("hash", "2", 384, "embeddings")
            assert (await client.get("/nothing")).status_code == 404
            assert (await client.get(plane.url.replace("/v1", "/healthz"))).text == "ok"
            wrong = await client.post("/embeddings", json={"model": "other", "input": "a"})
            assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, 404)
        embedder = HttpEmbedder(f"{plane.url}#hash")
        assert (embedder.model, embedder.dimension) == (HashEmbedder().model, 384)
        assert await embedder.embed(TEXTS[:16]) == await HashEmbedder().embed(TEXTS[:16])
        assert await embedder.embed_query(TEXTS[0]) == await HashEmbedder().embed_query(TEXTS[0])
        embedder.close()

    async def test_too_many_requests_are_refused_and_all_are_answered_in_the_end(self, plane: ModelProcess) -> None:
        with loading(plane.url, "hash", 16) as load:
            assert await load.vectors(TEXTS) == await HashEmbedder().embed(TEXTS)
        assert any("503" in told for told in load.unanswered)

    async def test_a_killed_replica_loses_nothing(self, plane: ModelProcess) -> None:
        with loading(plane.url, "hash", 4) as load:
            asked = asyncio.ensure_future(load.vectors(TEXTS))
            await reached(load, 5)
            victim = plane.kill("embeddings")
            assert await asked == await HashEmbedder().embed(TEXTS)
        assert load.answered == 60
        assert victim not in plane.replicas("embeddings")

    async def test_it_ends_with_all_that_it_started(self, plane: ModelProcess) -> None:
        started = plane.processes()
        assert len(started) > 5
        await plane.stop()
        assert not [pid for pid in started if is_running(pid)]


async def reached(load: Load, count: int) -> None:
    while load.answered < count:  # noqa: ASYNC110 - it is looked at, as a killer would
        await asyncio.sleep(0.001)


def is_running(pid: int) -> bool:
    """Tell whether a process is there and no zombie, which nobody has looked at yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
