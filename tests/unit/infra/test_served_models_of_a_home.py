"""A home whose encoder and reranker are served: what it remembers, and what happens while they are away."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from infra.bootstrap import open_memory
from infra.errors import HomeUnusable
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.memory import Row
from schemas.recall import Question, Recalled
from stages.contract import Unavailable
from tests.fakes.model_server import ModelServer, serving
from tests.fakes.real_home import SPACE, story
from tests.fakes.reranker import WordsShared

TURNS = story(12)
ASKED = Question(question="Where does Mia live?", k=3)


async def remembered(settings: Settings) -> list[Row]:
    async with open_memory(settings) as memory:
        if not memory.sums().published:
            await memory.publish(SPACE, TURNS)
        await memory.run()
        assert memory.sums().committed == len(TURNS)
        return list(memory.rows(SPACE))


async def recalled(settings: Settings) -> Recalled:
    async with open_memory(settings) as memory:
        return await memory.recall(SPACE, ASKED)


async def test_a_served_encoder_gives_the_same_memory_as_the_same_one_in_process(tmp_path: Path) -> None:
    own = await remembered(Settings(home=tmp_path / "own", embedder="hash"))
    with serving(ModelServer(HashEmbedder())) as url:
        assert await remembered(Settings(home=tmp_path / "served", embedder=f"openai:{url}#hash")) == own
    assert await remembered(Settings(home=tmp_path / "served", embedder="hash")) == own  # it may come home, too


async def test_while_the_encoder_is_away_turns_wait_and_nothing_is_lettered(tmp_path: Path) -> None:
    server = ModelServer(HashEmbedder())
    with serving(server) as url:
        settings = Settings(home=tmp_path / "home", embedder=f"openai:{url}#hash")
        async with open_memory(settings) as memory:
            await memory.publish(SPACE, TURNS[:6])
            await memory.run()
            server.instead["embeddings"] = [PlainTextResponse("overloaded", 503)]
            await memory.publish(SPACE, TURNS[6:])
            with pytest.raises(Unavailable, match="overloaded"):
                await memory.run()
            sums = memory.sums()
            assert (sums.lettered, sums.committed + sums.pending) == (0, len(TURNS))
            server.instead.clear()
            await memory.run()
            assert memory.sums().committed == len(TURNS)


async def test_another_model_behind_the_same_name_is_refused_with_both(tmp_path: Path) -> None:
    server = ModelServer(HashEmbedder())
    with serving(server) as url:
        settings = Settings(home=tmp_path / "home", embedder=f"openai:{url}#hash")
        await remembered(settings)
        server.instead["models"] = [PlainTextResponse('{"data": [{"id": "hash", "revision": "3"}]}')]
        server.embedder = Third()
        with pytest.raises(HomeUnusable, match=r"hash@2.*hash@3"):
            await recalled(settings)


class Third(HashEmbedder):
    """The same vectors under another revision."""

    @property
    def model(self) -> str:
        return "hash@3"


async def test_a_served_reranker_is_named_in_why_and_its_silence_in_the_answer(tmp_path: Path) -> None:
    server = ModelServer(reranker=WordsShared())
    with serving(server) as url:
        settings = Settings(home=tmp_path / "home", embedder="hash", reranker=f"openai:{url}#words")
        await remembered(settings)
        there = await recalled(settings)
        server.instead["rerank"] = [PlainTextResponse("overloaded", 503)]
        away = await recalled(settings)
    gone = await recalled(settings)
    plain = await recalled(Settings(home=tmp_path / "home", embedder="hash"))
    assert all("reranker" in hit.why for hit in there.hits)
    assert (there.degraded, away.degraded, gone.degraded) == ((), ("reranker",), ("reranker",))
    assert away.hits == gone.hits
    assert plain.degraded == ()
