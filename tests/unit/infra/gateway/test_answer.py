"""Answers of the gateway over a real embedded memory and a model on a real socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.gateway import embedded
from infra.gateway.embedded import open_served
from infra.gateway.figures import Figures
from infra.settings import Settings
from schemas.answer import Asked
from schemas.recall import Question
from schemas.space import Space
from streams.journal import Journal
from tests.fakes.agents import notes, reply
from tests.fakes.chat_server import Asked as Called
from tests.fakes.chat_server import ChatServer, Reply, said
from tests.fakes.gateway import real, settings_of, spoken
from tests.fakes.plain_model import ANSWERS

SPACE = "/v1/spaces/acme/u"
AGENTS: dict[str, object] = {
    "answer_plan": {"queries": []},
    "answer_integrate": notes("The gate is green.", [1]),
    "answer_reply": reply("green", 1, 9),
}


def agents(called: Called) -> Reply:
    """Answer as both agents do, and as the stages want it."""
    data = json.loads(called.user.partition("\n")[0])
    return said(json.dumps(AGENTS.get(called.name) or ANSWERS[called.name](data)))


async def answered(client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    answer = await client.post(f"{SPACE}/answer", json={"question": "Which colour is the gate?"} | more)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_what_was_just_published_is_answered_from(tmp_path: Path) -> None:
    with ChatServer(agents) as server:
        settings = settings_of(tmp_path, language_model=server.setting)
        async with real(settings) as client:
            token = (await client.post(f"{SPACE}/turns", json=spoken("c1:1", "The gate is green."))).json()["after"]
            told = await answered(client, after=token, trace=True)
            plain = await answered(client, after=token)
    assert (told["answer"], told["reason"], told["stale"]) == ("green", None, False)
    assert [one["turn_ids"] for one in told["citations"]] == [["c1:1"]]
    assert told["used"]["refused"] == 2
    assert [step["step"] for step in told["trace"]] == ["search", "plan", "integrate", "answer"]
    assert "trace" not in plain


async def test_what_the_model_is_asked_for_answers_is_among_the_figures(tmp_path: Path) -> None:
    with ChatServer(agents) as server:
        settings = settings_of(tmp_path, language_model=server.setting)
        figures = Figures.fresh()
        async with open_served(settings, counts=figures.models) as served:
            await served.publish(Space("acme/u"), [json.dumps(spoken("a", space="acme/u")).encode()])
            answer = await served.answer(Space("acme/u"), Asked(question=Question(question="What gave way?")), "a")
            figures.told(answer)
    page = figures.page().decode()
    assert 'anabranch_model_requests_total{outcome="reasked",stage="answer",tenant="acme"} 1.0' in page
    assert 'anabranch_gateway_answers_total{reason="answered"} 1.0' in page
    assert "anabranch_gateway_citations_refused_total 2.0" in page


async def test_without_a_model_the_evidence_comes_and_says_how_stale_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: Settings = settings_of(tmp_path)
    async with real(settings) as client:
        token = (await client.post(f"{SPACE}/turns", json=spoken("a", "The gate is green."))).json()["after"]
        told = await answered(client, after=token)
        assert (told["answer"], told["reason"], told["stale"]) == (None, "no_model", False)
        assert told["evidence"][0]["turn_ids"] == ["a"]
        assert (await answered(client, as_of="turn:a"))["evidence"][0]["turn_ids"] == ["a"]
        assert (await answered(client, after="nobody"))["stale"]
        monkeypatch.setattr(embedded, "PATIENCE_S", 0.1)
        monkeypatch.setattr(Journal, "committed_offset", lambda _journal, _space: 0)
        assert (await answered(client, after=token))["stale"]
