"""A gateway whose language model is away takes turns all the same, and they arrive when it is back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from infra.gateway import embedded
from infra.gateway.embedded import EmbeddedServed, open_served
from infra.gateway.figures import Figures
from infra.settings import Settings
from schemas.space import Space
from streams.metrics import Outcome
from tests.fakes.asking_stage import let_ask
from tests.fakes.chat_server import ChatServer
from tests.fakes.real_home import said

SPACE = Space("acme/mia")


async def pending(served: EmbeddedServed, count: int) -> None:
    while await served.pending() != count:  # noqa: ASYNC110 - the stages' own time
        await asyncio.sleep(0.01)


async def waits(served: EmbeddedServed) -> str:
    while (reason := (await served.parts())["stages"]) is None:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.01)
    return reason


async def test_turns_wait_for_a_model_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_ask(monkeypatch)
    monkeypatch.setattr(embedded, "_FIRST_S", 0.05)
    monkeypatch.setattr(embedded, "_LONGEST_S", 0.1)
    with ChatServer() as server:
        pass
    settings = Settings(home=tmp_path, embedder="hash", language_model=server.setting)
    figures = Figures.fresh()
    async with open_served(settings, counts=figures.models) as served:
        await served.publish(SPACE, [said("t1", "I live in Oslo.", SPACE)])
        assert f"{server.url} does not answer" in await waits(served)
        with ChatServer(port=server.port):
            await asyncio.wait_for(pending(served, 0), 30)
    page = figures.page().decode()
    for outcome in (Outcome.ANSWERED, Outcome.UNAVAILABLE):
        assert f'anabranch_model_requests_total{{outcome="{outcome}",stage="normalize",tenant="acme"}}' in page
    assert 'anabranch_model_tokens_total{part="prompt",stage="normalize",tenant="acme"}' in page
