"""The gateway over a real embedded memory: publishing, asking and processing at the same time, in one process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.bootstrap import open_memory
from infra.errors import HomeBusy
from infra.gateway import embedded
from infra.gateway.embedded import open_served
from infra.home import LOG
from infra.memory_api import Sums
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.space import Space
from stages.contract import Unavailable
from streams.embedded import Embedded
from streams.journal import Journal
from streams.stopped import StageCrashed
from tests.fakes.gateway import client_of, gateway, keyed, real, settings_of, spoken

SPACE = "/v1/spaces/acme/u"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_of(tmp_path)


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with real(settings) as one:
        yield one


async def published(client: httpx.AsyncClient, *turns: dict[str, Any], space: str = SPACE) -> str:
    answer = await client.post(f"{space}/turns", json={"turns": turns})
    assert answer.status_code == 202, answer.text
    token: str = answer.json()["after"]
    return token


async def asked(client: httpx.AsyncClient, question: str, space: str = SPACE, **more: Any) -> dict[str, Any]:
    answer = await client.post(f"{space}/recall", json={"question": question} | more)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def found(told: dict[str, Any]) -> list[str]:
    return [turn_id for hit in told["hits"] for turn_id in hit["turn_ids"]]


async def test_what_was_just_published_is_found_or_declared_stale(client: httpx.AsyncClient) -> None:
    """Many bots publish and ask at once: none ever misses its own last turn without being told."""

    async def bot(number: int) -> list[bool]:
        right = []
        for turn in range(3):
            space = f"/v1/spaces/acme/s{number % 5}"
            name = f"b{number}:{turn}"
            token = await published(client, spoken(name, f"Bot {number} bought lamp number {turn}."), space=space)
            told = await asked(client, f"Which lamp did bot {number} buy?", space, after=token, k=100)
            right.append(told["stale"] or name in found(told))
        return right

    assert all(ok for bots in await asyncio.gather(*map(bot, range(10))) for ok in bots)


async def test_a_token_that_does_not_come_in_time_makes_the_answer_stale(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await asked(client, "Anything?", after="nobody"))["stale"]
    monkeypatch.setattr(embedded, "PATIENCE_S", 0.3)
    token = await published(client, spoken("a", "The gate is green."))
    assert found(await asked(client, "Which gate?", after=token)) == ["a"]
    monkeypatch.setattr(Journal, "committed_offset", lambda _journal, _space: 0)
    assert (await asked(client, "Which gate?", after=token))["stale"]


async def test_a_recall_may_ask_for_what_was_known_then(client: httpx.AsyncClient) -> None:
    await published(client, spoken("a", "I live in Oslo.", at="2026-03-01T10:00:00Z"))
    token = await published(client, spoken("b", "I live in Rome now.", at="2026-03-05T10:00:00Z"))
    assert "b" in found(await asked(client, "Where does Mia live?", after=token))
    for as_of in ("turn:a", "time:2026-03-02T00:00:00Z", "position:0"):
        assert found(await asked(client, "Where does Mia live?", as_of=as_of)) == ["a"], as_of
    refused = await client.post(f"{SPACE}/recall", json={"question": "x", "as_of": "turn:zzz"})
    assert refused.status_code == 422
    assert "no committed turn" in refused.json()["detail"]


async def test_a_turn_tells_what_became_of_it(client: httpx.AsyncClient) -> None:
    token = await published(client, spoken("a", "The gate is green."), spoken("é/1", "The door is blue."))
    await asked(client, "Which gate?", after=token)
    for position, turn_id in enumerate(("a", "é/1")):
        told = (await client.get(f"{SPACE}/turns/{turn_id}")).json()
        assert told == {"turn_id": turn_id, "position": position, "state": "committed", "reason": None}
    again = await published(client, spoken("a", "The gate is yellow."))
    await asked(client, "Which gate?", after=again)
    assert (await client.get(f"{SPACE}/turns/a")).json()["position"] == 0
    assert (await client.get(f"{SPACE}/turns/green")).status_code == 404


async def test_a_bundle_continues_the_branch(client: httpx.AsyncClient) -> None:
    token = await published(client, spoken("a", "The kitchen floor gave way under the fridge."))
    await asked(client, "floor", after=token)
    answer = await client.post(f"{SPACE}/context", json={"text": "And the kitchen floor?", "speaker": "mia"})
    told = answer.json()
    assert told["placement"]["parent_turn_id"] == "a"
    assert 0 < told["tokens"] <= 1024
    assert [line["turn_ids"] for line in told["lines"]] == [["a"]]


async def test_two_tenants_know_nothing_of_each_other(settings: Settings) -> None:
    """Also where their spaces are called alike; and no text of one moves a score of the other."""
    async with open_served(settings) as served:
        app = gateway(served, settings)
        async with client_of(app, keyed(settings, "acme")) as mia, client_of(app, keyed(settings, "evil")) as eve:
            token = await published(mia, spoken("a", "My canary is called Zeppelin."))
            before = await asked(mia, "canary", after=token)
            secrets = [spoken(f"e{turn}", f"Canary canary Zeppelin {turn}.") for turn in range(20)]
            last = await published(eve, *secrets, space="/v1/spaces/evil/u")
            await asked(eve, "canary", "/v1/spaces/evil/u", after=last)
            after = await asked(mia, "canary")
            assert [hit["score"] for hit in before["hits"]] == [hit["score"] for hit in after["hits"]]
            assert found(after) == ["a"]
            told = await asked(eve, "Zeppelin", "/v1/spaces/evil/u", k=50)
            assert len(found(told)) >= 20
            assert "a" not in found(told)
            for way in ("turns/a", "turns/e1"):
                answers = [await eve.get(f"/v1/spaces/acme/{space}/{way}") for space in ("u", "nobody")]
                assert [answer.status_code for answer in answers] == [404, 404]
                assert len({answer.json()["detail"] for answer in answers}) == 1


async def test_a_space_with_too_many_pending_turns_takes_no_more_until_they_are_done(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def held(*_: Any) -> None:
        await asyncio.Event().wait()

    small = settings.model_copy(update={"gateway_pending": 10})
    with monkeypatch.context() as patched:
        patched.setattr(Embedded, "serve", held)
        async with real(small) as client:
            await published(client, *[spoken(f"t{n}", f"Turn {n}.") for n in range(8)])
            answer = await client.post(f"{SPACE}/turns", json={"turns": [spoken("x"), spoken("y"), spoken("z")]})
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) >= 1
            assert "8 events" in answer.json()["detail"]
            await published(client, spoken("x"), spoken("y"))
            assert (await client.post(f"{SPACE}/turns", json=spoken("z"))).status_code == 429
            await published(client, spoken("z"), space="/v1/spaces/acme/v")
            assert "anabranch_gateway_pending_events 11.0" in (await client.get("/metrics")).text
    async with real(small) as client:
        await asked(client, "x", after="y")
        await published(client, spoken("z"))
        log = settings.home / LOG
    with sqlite3.connect(log) as file:
        assert file.execute("SELECT COUNT(*) FROM log").fetchone() == (12,)


async def test_nobody_else_can_have_the_home_meanwhile(client: httpx.AsyncClient, settings: Settings) -> None:
    await published(client, spoken("a"))
    with pytest.raises(HomeBusy, match="in use by process"):
        async with open_memory(settings):
            pass
    with pytest.raises(HomeBusy, match="in use by process"):
        async with open_served(settings):
            pass


async def test_what_was_accepted_outlives_the_end_and_memory_is_that_of_the_command_line(
    settings: Settings, tmp_path: Path
) -> None:
    turns = [spoken(f"t{n}", f"Lamp number {n} is in room {n % 3}.") for n in range(12)]
    async with real(settings) as client:
        for turn in turns:
            await published(client, turn)
    async with open_memory(settings) as memory:
        assert memory.sums() == Sums(published=12, committed=12)
        rows = [row.model_dump_json() for row in memory.rows(Space("acme/u"))]
    plain = settings_of(tmp_path / "plain")
    async with open_memory(plain) as memory:
        await memory.publish(Space("acme/u"), [json.dumps(turn | {"space": "acme/u"}).encode() for turn in turns])
        await memory.run()
        assert rows == [row.model_dump_json() for row in memory.rows(Space("acme/u"))]


async def test_stages_that_stop_are_tried_again_and_publishing_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "_FIRST_S", 0.02)
    monkeypatch.setattr(embedded, "_LONGEST_S", 0.02)
    faults: list[Exception] = [StageCrashed("a text crashed it"), ZeroDivisionError("a bug"), Unavailable("no disk")]
    real_serve = Embedded.serve

    async def faulty(runtime: Embedded, *given: Any) -> None:
        if faults:
            raise faults[-1]
        await real_serve(runtime, *given)

    monkeypatch.setattr(Embedded, "serve", faulty)
    async with real(settings) as client:
        while faults:
            ready = await client.get("/readyz")
            if any(str(faults[-1]) in record.getMessage() for record in caplog.records):
                assert ready.status_code == 503
                await published(client, spoken(f"t{len(faults)}", "The gate is green."))
                faults.pop()
        assert set(found(await asked(client, "gate", after="t1"))) == {"t1", "t2", "t3"}
        assert (await client.get("/readyz")).status_code == 200


async def test_a_fault_that_has_passed_leaves_the_gateway_ready_though_nothing_comes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("_FIRST_S", 0.02), ("_SOUND_S", 0.1)):
        monkeypatch.setattr(embedded, name, seconds)
    faults = [Unavailable("no disk")]
    real_serve = Embedded.serve

    async def faulty(runtime: Embedded, *given: Any) -> None:
        if faults:
            raise faults.pop()
        await real_serve(runtime, *given)

    monkeypatch.setattr(Embedded, "serve", faulty)
    async with real(settings) as client, asyncio.timeout(20):
        while faults or (await client.get("/readyz")).status_code != 200:  # noqa: ASYNC110 - a page
            await asyncio.sleep(0.02)


async def test_a_model_that_is_gone_is_seen_though_its_vectors_are_kept(settings: Settings) -> None:
    asked = list[str]()

    class Listening(HashEmbedder):
        async def embed_query(self, text: str) -> bytes:
            asked.append(text)
            return await super().embed_query(text)

    async with open_served(settings, Listening()) as served:
        for _ in range(2):
            assert not any((await served.parts()).values())
    assert len(set(asked)) == 2


async def test_publishers_share_writes_to_the_disk(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = list[int]()
    append_all = Journal.append_all

    def counted(journal: Journal, batches: Any, **more: Any) -> None:
        given = list(batches)
        writes.append(len(given))
        append_all(journal, given, **more)

    monkeypatch.setattr(Journal, "append_all", counted)
    async with real(settings) as client:
        await asyncio.gather(*(published(client, spoken(f"t{n}")) for n in range(50)))
    assert sum(writes) == 50
    assert len(writes) < 25


async def test_a_disk_that_cannot_be_written_is_told_and_nothing_is_taken(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        msg = "database or disk is full"
        raise sqlite3.OperationalError(msg)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append_all", full)
        answer = await client.post(f"{SPACE}/turns", json=spoken("a"))
    assert answer.status_code == 503
    assert "disk is full" in caplog.text
    assert (await client.get(f"{SPACE}/turns/a")).status_code == 404
    await published(client, spoken("a"))
