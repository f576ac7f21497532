"""A home that is embedded or derived anew while it is served: every question is answered, and memory is the same."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra import embedded_memory
from infra.bootstrap import open_memory, open_reindex
from infra.errors import HomeUnusable
from infra.gateway.embedded import open_served
from infra.gateway.reading import TurnsOf, encoded
from infra.gateway.renewal import Renewal
from infra.reindex.pointer import load
from infra.settings import Settings
from schemas.space import Space
from stages.contract import Unavailable
from streams.codec import canonical
from streams.replay import Reembedding
from tests.fakes.gateway import client_of, gateway, keyed, settings_of, spoken

SPACE = Space("acme/u")
NEW = "hash:512"
TEXTS = ("I live in Oslo.", "My sister Elin lives in Bergen.", "I work as a nurse.", "The tram was late.")


def turns(first: int, count: int) -> list[dict[str, Any]]:
    return [
        spoken(f"t{number}", f"{TEXTS[number % 4]} That was day {number}.") for number in range(first, first + count)
    ]


async def lived(settings: Settings, count: int) -> list[str]:
    """Let a home live without any gateway, and return its rows."""
    async with open_memory(settings) as memory:
        read = TurnsOf(SPACE, 500, 5000).read(json.dumps({"turns": turns(0, count)}).encode())
        await memory.publish(SPACE, [encoded(turn) for turn in read])
        await memory.run()
        return [canonical(row) for row in memory.rows(SPACE)]


async def asked_on(client: httpx.AsyncClient, answers: list[dict[str, Any]], end: asyncio.Event) -> None:
    while not end.is_set():
        answer = await client.post(f"/v1/spaces/{SPACE}/recall", json={"question": "Where does Mia live?", "k": 3})
        assert answer.status_code == 200, answer.text
        answers.append(answer.json())
        await asyncio.sleep(0)


async def published(client: httpx.AsyncClient, first: int, count: int) -> None:
    """Publish turns a few at a time, and see that the last is found at once or declared stale."""
    for number in range(first, first + count, 4):
        answer = await client.post(f"/v1/spaces/{SPACE}/turns", json={"turns": turns(number, 4)})
        assert answer.status_code == 202, answer.text
        asked = {"question": f"What was on day {number + 3}?", "after": answer.json()["after"], "k": 50}
        told = (await client.post(f"/v1/spaces/{SPACE}/recall", json=asked)).json()
        ids = {turn_id for hit in told["hits"] for turn_id in hit["turn_ids"]}
        assert told["stale"] or f"t{number + 3}" in ids


async def until_logged(caplog: pytest.LogCaptureFixture, what: str) -> None:
    async with asyncio.timeout(60):
        while not any(what in record.getMessage() for record in caplog.records):  # noqa: ASYNC110 - a log
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("embedder", [NEW, None], ids=["vectors", "derive"])
async def test_traffic_goes_on_while_it_is_built_and_after_the_switch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, embedder: str | None
) -> None:
    caplog.set_level(logging.INFO, "infra.gateway")
    settings = settings_of(tmp_path)
    before = await lived(settings, 40)
    answers: list[dict[str, Any]] = []
    end = asyncio.Event()
    async with (
        open_served(settings, renewal=Renewal(embedder, switch=True)) as served,
        client_of(gateway(served, settings), keyed(settings)) as client,
    ):
        asking = asyncio.create_task(asked_on(client, answers, end))
        await published(client, 40, 16)
        await until_logged(caplog, "recall reads")
        await published(client, 56, 8)
        assert (await client.get(f"/v1/spaces/{SPACE}/turns/t63")).json()["state"] == "committed"
        end.set()
        await asking
    assert answers
    assert all(told["hits"] for told in answers)
    pointer = load(settings.home)
    assert (pointer.vectors is not None, pointer.generation) == ((True, 1) if embedder else (False, 2))
    async with (  # a service that is started again as it was goes on, and does not begin once more
        open_served(settings, renewal=Renewal(embedder, switch=True)) as served,
        client_of(gateway(served, settings), keyed(settings)) as client,
    ):
        told = await client.post(f"/v1/spaces/{SPACE}/recall", json={"question": "Where does Mia live?", "k": 3})
        assert told.json()["hits"]
        await until_logged(caplog, "is read already")
    assert load(settings.home) == pointer
    if embedder is not None:
        with pytest.raises(HomeUnusable, match="ANABRANCH_EMBEDDER to hash:512"):
            async with open_served(settings):
                pass
        settings = settings.model_copy(update={"embedder": embedder})
    alone = await lived(settings_of(tmp_path / "alone"), 64)
    async with open_memory(settings) as memory:
        assert [canonical(row) for row in memory.rows(SPACE)] == alone
    assert set(before) < set(alone)


async def test_what_cannot_be_built_is_logged_and_serving_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(tmp_path)
    await lived(settings, 4)
    async with (
        open_served(settings, renewal=Renewal("hash", switch=False)) as served,
        client_of(gateway(served, settings), keyed(settings)) as client,
    ):
        await until_logged(caplog, "no reindex")
        await published(client, 4, 4)


async def test_a_follower_that_fails_holds_up_no_stage_and_questions_hear_that_they_are_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tmp_path)
    await lived(settings, 4)
    async with open_reindex(settings.model_copy(update={"embedder": NEW})) as work:
        await work.vectors(lambda _progress: None)
        await work.switch(lambda _progress: None)
    monkeypatch.setattr(embedded_memory, "_AGAIN_S", 0.02)
    monkeypatch.setattr("infra.gateway.embedded.PATIENCE_S", 0.2)
    catch_up, is_away = Reembedding.catch_up, True

    async def failing(follower: Reembedding, *given: Any) -> int:
        if is_away:
            msg = "the new model is away"
            raise Unavailable(msg)
        return await catch_up(follower, *given)

    monkeypatch.setattr(Reembedding, "catch_up", failing)
    reading = settings.model_copy(update={"embedder": NEW})
    async with open_served(reading) as served, client_of(gateway(served, reading), keyed(reading)) as client:
        await client.post(f"/v1/spaces/{SPACE}/turns", json={"turns": turns(4, 2)})
        async with asyncio.timeout(30):
            while (await client.get(f"/v1/spaces/{SPACE}/turns/t5")).json()["state"] != "committed":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        asked = {"question": "What was on day 5?", "after": "t5", "k": 50}
        told = (await client.post(f"/v1/spaces/{SPACE}/recall", json=asked)).json()
        assert (told["stale"], told["behind"]) == (True, 2)
        is_away = False
        async with asyncio.timeout(30):
            while (told := (await client.post(f"/v1/spaces/{SPACE}/recall", json=asked)).json())["stale"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert "t5" in {turn_id for hit in told["hits"] for turn_id in hit["turn_ids"]}
