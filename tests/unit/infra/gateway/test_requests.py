"""Requests over a small memory: who is let in, what is refused and how that is told, what reaches the memory."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from infra.gateway.keys import KeyFile
from infra.gateway.served import TooLarge, TooManyPending
from infra.settings import Settings
from schemas.space import Space
from stages.contract import Unavailable
from streams.codec import decode_event
from tests.fakes.gateway import SmallServed, client_of, gateway, keyed, settings_of, spoken

TURNS = "/v1/spaces/acme/u/turns"
RECALL = "/v1/spaces/acme/u/recall"
ANSWER = "/v1/spaces/acme/u/answer"
CONTEXT = "/v1/spaces/acme/u/context"


@dataclass(frozen=True)
class Made:
    """One application for all tests: to make it takes longer than most of them."""

    served: SmallServed
    settings: Settings
    app: FastAPI
    headers: dict[str, str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    settings = settings_of(tmp_path_factory.mktemp("gateway"), gateway_turns=5, gateway_body=20_000, max_text=5_000)
    served = SmallServed()
    return Made(served, settings, gateway(served, settings), keyed(settings))


@pytest.fixture
def settings(made: Made) -> Settings:
    return made.settings


@pytest.fixture
def served(made: Made) -> SmallServed:
    made.served.log, made.served.asked, made.served.answered, made.served.fault = [], [], [], None
    return made.served


@pytest.fixture
async def client(made: Made, served: SmallServed) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(made.app, made.headers) as one:
        yield one


def problem(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """Check the shape of a problem and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = answer.json()
    assert told["type"] == f"urn:anabranch:problem:{kind}"
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    assert told["request_id"] == answer.headers["x-request-id"]
    return told


async def test_one_turn_is_published_as_it_was_said(client: httpx.AsyncClient, served: SmallServed) -> None:
    answer = await client.post(TURNS, json=spoken("c1:17", "Grüße, 東京", session="c1"))
    assert (answer.status_code, answer.json()) == (202, {"turn_ids": ["c1:17"], "after": "c1:17"})
    ((space, body),) = served.log
    assert space == "acme/u"
    assert json.loads(body) == spoken("c1:17", "Grüße, 東京", session="c1") | {"space": "acme/u"}
    assert "Grüße, 東京".encode() in body
    assert decode_event(body).space == "acme/u"


async def test_several_turns_keep_their_order_and_the_last_is_the_token(
    client: httpx.AsyncClient, served: SmallServed
) -> None:
    turns = [spoken("a"), spoken("b", space="acme/u"), spoken("a", "Again.", revision=2)]
    answer = await client.post(TURNS, json={"turns": turns})
    assert (answer.status_code, answer.json()) == (202, {"turn_ids": ["a", "b", "a"], "after": "a@2"})
    assert [json.loads(body)["turn_id"] for _, body in served.log] == ["a", "b", "a"]


REFUSED: dict[str, tuple[Any, int | None, str]] = {
    "blank": (spoken("a", " \n"), 0, "text"),
    "only what is invisible": (spoken("a", "\u200b\x00"), 0, "text"),
    "too long": (spoken("a", "x" * 5001), 0, "text"),
    "no offset": (spoken("a", at="2026-03-01T18:22:05"), 0, "at"),
    "a number for a time": (spoken("a", at=1772388125), 0, "at"),
    "no id": ({"speaker": {"id": "mia"}, "text": "x", "at": "2026-03-01T18:22:05Z"}, 0, "turn_id"),
    "an id with a NUL": (spoken("a\x00"), 0, "turn_id"),
    "an endless id": (spoken("a" * 257), 0, "turn_id"),
    "unknown field": (spoken("a", mood="gay"), 0, "mood"),
    "unknown field inside": (spoken("a", speaker={"id": "mia", "age": 3}), 0, "speaker.age"),
    "another space": (spoken("a", space="acme/v"), 0, "space"),
    "no space": (spoken("a", space="acme"), 0, "space"),
    "no role": (spoken("a", speaker={"id": "mia", "role": "ghost"}), 0, "speaker.role"),
    "control event": ({"kind": "control", "event_id": "e", "at": "2026-03-01T18:22:05Z"}, 0, "kind"),
    "revision too great": (spoken("a", revision=2**31), 0, "revision"),
    "revision beyond all numbers": (spoken("a", revision=10**400), 0, "revision"),
    "one of several": ({"turns": [spoken("a"), spoken("b", ""), spoken("c")]}, 1, "text"),
    "one of several is no object": ({"turns": [spoken("a"), 7]}, 1, "body"),
    "no turns": ({"turns": []}, None, "turns"),
    "turns that are none": ({"turns": "abc"}, None, "turns"),
    "something beside turns": ({"turns": [spoken("a")], "space": "acme/u"}, None, "turns"),
    "a list": ([spoken("a")], None, "body"),
    "null": (None, None, "body"),
    "an empty object": ({}, 0, "turn_id"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_taken_is_named_and_nothing_is_published(
    case: str, client: httpx.AsyncClient, served: SmallServed
) -> None:
    body, number, field = REFUSED[case]
    told = problem(await client.post(TURNS, content=json.dumps(body)), 422, "unfit")
    fault = told["errors"][0]
    assert (fault.get("turn"), fault["field"]) == (number, field)
    if case == "one of several":
        assert fault["turn_id"] == "b"
    assert served.log == []


async def test_all_faulty_turns_are_named_up_to_a_number(client: httpx.AsyncClient) -> None:
    told = problem(
        await client.post(TURNS, json={"turns": [spoken("a", ""), spoken("b"), spoken("", "x")]}), 422, "unfit"
    )
    assert [(fault["turn"], fault["field"]) for fault in told["errors"]] == [(0, "text"), (2, "turn_id")]


NO_JSON = {
    "nothing": b"",
    "text": b"hello",
    "cut off": b'{"turn_id": "a"',
    "not UTF-8": b'{"turn_id": "\xff"}',
    "NaN": b'{"turn_id": NaN}',
    "lone surrogate": json.dumps(spoken("a", "\ud83d")).encode(),
    "deep": b"[" * 10_000 + b"]" * 10_000,
    "deep object": b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
    "digits": b'{"revision": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("case", NO_JSON)
@pytest.mark.parametrize("path", [TURNS, RECALL, ANSWER, CONTEXT])
async def test_what_is_no_json_is_refused(case: str, path: str, client: httpx.AsyncClient, served: SmallServed) -> None:
    answer = await client.post(path, content=NO_JSON[case], headers={"content-type": "application/json"})
    problem(answer, 400, "not-json")
    assert served.log == []


async def test_bodies_have_limits(client: httpx.AsyncClient, served: SmallServed) -> None:
    problem(
        await client.post(TURNS, content=b"x" * 20_001, headers={"content-type": "application/json"}), 413, "too-large"
    )

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 4096

    problem(await client.post(TURNS, content=endless(), headers={"content-type": "application/json"}), 413, "too-large")
    problem(await client.post(TURNS, json={"turns": [spoken(f"t{n}") for n in range(6)]}), 413, "too-many-turns")
    problem(await client.post(TURNS, content=b"{}", headers={"content-type": "text/plain"}), 415, "media-type")
    assert served.log == []


async def test_without_a_key_that_holds_nobody_comes_in(served: SmallServed, settings: Settings) -> None:
    app = gateway(served, settings)
    key, text = KeyFile(settings.key_file).create("acme")
    for given in ({}, {"Authorization": "Bearer ab_x_y"}, {"Authorization": f"Basic {text}"}, {"Authorization": text}):
        async with client_of(app, given) as stranger:
            for answer in (await stranger.post(TURNS, json=spoken("a")), await stranger.get(f"{TURNS}/a")):
                problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
    async with client_of(app, {"Authorization": f"Bearer {text}"}) as bot:
        assert (await bot.post(TURNS, json=spoken("a"))).status_code == 202
        KeyFile(settings.key_file).revoke(key.key_id)
        problem(await bot.post(TURNS, json=spoken("b")), 401, "unauthorized")
    assert len(served.log) == 1


async def test_another_tenants_space_looks_like_one_that_is_not_there(
    client: httpx.AsyncClient, served: SmallServed
) -> None:
    served.log.append((Space("evil/u"), json.dumps(spoken("secret")).encode()))
    answers = []
    for space in ("evil/u", "evil/nobody", "acme/-odd", "acme/a b"):
        for method, path, body in (
            ("GET", "turns/secret", None),
            ("POST", "turns", spoken("a")),
            ("POST", "recall", {"question": "What?"}),
            ("POST", "answer", {"question": "What?"}),
            ("POST", "context", {"text": "What?"}),
        ):
            told = problem(await client.request(method, f"/v1/spaces/{space}/{path}", json=body), 404, "not-found")
            answers.append((told["type"], told["title"], told["detail"]))
    unknown = problem(await client.get(f"{TURNS}/nobody"), 404, "not-found")
    assert set(answers) == {(unknown["type"], unknown["title"], unknown["detail"])}
    assert len(served.log) == 1


async def test_a_key_that_asks_too_often_has_to_wait(served: SmallServed, settings: Settings) -> None:
    slow = settings.model_copy(update={"gateway_rate": 2.0})
    async with client_of(gateway(served, slow), keyed(slow)) as bot:
        answers = [await bot.get(f"{TURNS}/a") for _ in range(6)]
    assert [answer.status_code for answer in answers[:4]] == [404] * 4
    problem(answers[-1], 429, "rate")
    assert answers[-1].headers["retry-after"] == "1"


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (Unavailable("Kafka does not answer"), 503, "unavailable"),
        (TooManyPending(Space("acme/u"), 12, 10), 429, "pending"),
        (TooLarge("4 GB"), 413, "too-large"),
        (ZeroDivisionError("a bug"), 500, "bug"),
    ],
    ids=["away", "pending", "large", "bug"],
)
async def test_what_goes_wrong_behind_is_told(
    fault: Exception, status: int, kind: str, client: httpx.AsyncClient, served: SmallServed
) -> None:
    served.fault = fault
    requests = (
        (TURNS, spoken("a")),
        (RECALL, {"question": "x"}),
        (ANSWER, {"question": "x"}),
        (CONTEXT, {"text": "x"}),
    )
    for path, body in requests:
        answer = await client.post(path, json=body)
        problem(answer, status, kind)
        assert status != 503 or str(fault) not in answer.text, "where what is away lies is the operator's to know"
        assert ("retry-after" in answer.headers) == (status in {429, 503})
    problem(await client.get(f"{TURNS}/a"), status, kind)
    assert (await client.get("/healthz")).status_code == 200
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (503, False)
    assert ready.json()["parts"]["log"] == "ok"
    assert ready.json()["parts"]["index"] == "does not answer"
    assert str(fault) not in ready.text, "a page without a key tells what may name a space"
    assert (await client.get("/readyz", params={"exclude": "index"})).status_code == 200


async def test_a_question_reaches_memory_whole(client: httpx.AsyncClient, served: SmallServed) -> None:
    asked = {"question": "Where?", "asker": "mia", "asked_at": "2026-03-01T18:00:00Z", "for_turn": "c1:2", "k": 3}
    answer = await client.post(RECALL, json=asked | {"after": "c1:1@2", "as_of": "position:7"})
    assert answer.status_code == 200
    ((question, after),) = served.asked
    assert after == "c1:1@2"
    assert question.model_dump(mode="json", exclude={"schema_version", "id"}) == asked | {"as_of": 7}


async def test_a_question_to_be_answered_reaches_memory_whole_and_costs_no_more_than_is_set(
    client: httpx.AsyncClient, served: SmallServed, settings: Settings
) -> None:
    asked = {"question": "Where?", "asker": "mia", "asked_at": "2026-03-01T18:00:00Z", "for_turn": "c1:2"}
    dear = {"budget": 900_000, "requests": 20, "seconds": 3000, "trace": True}
    answer = await client.post(ANSWER, json=asked | dear | {"after": "c1:1@2", "as_of": "position:7"})
    assert answer.status_code == 200
    assert (answer.json()["answer"], answer.json()["reason"]) == (None, "not_in_memory")
    await client.post(ANSWER, json={"question": "Where?", "requests": 1, "budget": 300, "seconds": 1.5})
    (first, after), (second, none) = served.answered
    assert (after, none) == ("c1:1@2", None)
    wanted = asked | {"as_of": 7, "k": 10}
    assert first.question.model_dump(mode="json", exclude={"schema_version", "id"}) == wanted
    most = (settings.answer_tokens, settings.answer_requests, settings.answer_seconds)
    assert (first.budget, first.requests, first.seconds, first.trace) == (*most, True)
    assert (second.budget, second.requests, second.seconds, second.trace) == (300, 1, 1.5, False)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (RECALL, {}, "question"),
        (RECALL, {"question": " "}, "question"),
        (RECALL, {"question": "x" * 100_001}, "question"),
        (RECALL, {"question": "x", "k": 0}, "k"),
        (RECALL, {"question": "x", "k": 1e400}, "k"),
        (RECALL, {"question": "x", "asked_at": "noon"}, "asked_at"),
        (RECALL, {"question": "x", "as_of": "yesterday"}, "as_of"),
        (RECALL, {"question": "x", "as_of": "turn:nobody"}, "as_of"),
        (RECALL, {"question": "x", "who": "me"}, "who"),
        (RECALL, [], "body"),
        (ANSWER, {}, "question"),
        (ANSWER, {"question": "x", "budget": 99}, "budget"),
        (ANSWER, {"question": "x", "requests": -1}, "requests"),
        (ANSWER, {"question": "x", "seconds": 0}, "seconds"),
        (ANSWER, {"question": "x", "seconds": 1e400}, "seconds"),
        (ANSWER, {"question": "x", "as_of": "turn:nobody"}, "as_of"),
        (ANSWER, {"question": "x", "k": 3}, "k"),
        (CONTEXT, {"text": "x", "budget": 0}, "budget"),
        (CONTEXT, {"text": ""}, "text"),
    ],
)
async def test_a_question_that_is_none_is_refused(
    path: str, body: Any, field: str, served: SmallServed, settings: Settings
) -> None:
    wide = settings.model_copy(update={"gateway_body": 1_000_000})
    async with client_of(gateway(served, wide), keyed(wide)) as client:
        answer = await client.post(path, content=json.dumps(body).replace("Infinity", "1e400"))
    assert field in [fault["field"] for fault in problem(answer, 422, "unfit")["errors"]]


@pytest.mark.parametrize(("given", "kept"), [("trace-1.a:b_c", "kept"), ("a b", ""), ("x" * 129, ""), ("", "")])
async def test_a_request_keeps_its_id_where_it_is_sane(given: str, kept: str, client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) == bool(kept)
    assert answer.headers["x-request-id"]


async def test_addresses_and_methods_that_are_none(client: httpx.AsyncClient) -> None:
    problem(await client.get("/nowhere"), 404, "not-found")
    answer = await client.delete(TURNS)
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "POST"


async def test_a_turn_id_may_hold_a_slash(client: httpx.AsyncClient, served: SmallServed) -> None:
    await client.post(TURNS, json=spoken("c1/17 ü"))
    answer = await client.get(f"{TURNS}/c1%2F17%20%C3%BC")
    assert answer.json() == {"turn_id": "c1/17 ü", "position": 0, "state": "committed", "reason": None}


async def test_figures_count_what_was_asked(served: SmallServed, made: Made) -> None:
    async with client_of(gateway(served, made.settings), made.headers) as client:
        await client.post(TURNS, json={"turns": [spoken("a"), spoken("b")]})
        await client.post(TURNS, json=spoken("c", ""))
        await client.get(f"{TURNS}/some-id")
        await client.post(ANSWER, json={"question": "Where?"})
        page = (await client.get("/metrics")).text
    route = 'route="/v1/spaces/{tenant}/{space}/turns"'
    assert f'anabranch_gateway_requests_total{{method="POST",{route},status="202"}} 1.0' in page
    assert f'anabranch_gateway_requests_total{{method="POST",{route},status="422"}} 1.0' in page
    assert 'anabranch_gateway_refused_total{reason="unfit"} 1.0' in page
    assert "anabranch_gateway_turns_accepted_total 2.0" in page
    assert 'anabranch_gateway_answers_total{reason="not_in_memory"} 1.0' in page
    assert "anabranch_gateway_citations_refused_total 0.0" in page
    assert "anabranch_gateway_pending_events 2.0" in page
    assert "anabranch_gateway_request_seconds_bucket" in page
    assert "some-id" not in page


async def test_the_document_has_examples_that_are_taken(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert "swagger" in (await client.get("/docs")).text.lower()
    for name, path in (("turns", TURNS), ("recall", RECALL), ("answer", ANSWER), ("context", CONTEXT)):
        operation = document["paths"][f"/v1/spaces/{{tenant}}/{{space}}/{name}"]["post"]
        assert operation["security"]
        assert {"400", "401", "404", "413", "415", "422", "429", "503"} <= operation["responses"].keys()
        for example in operation["requestBody"]["content"]["application/json"]["examples"].values():
            assert (await client.post(path, json=example["value"])).is_success


async def test_the_page_of_the_docs_needs_nothing_from_elsewhere(made: Made) -> None:
    async with client_of(made.app, {}) as client:
        page = (await client.get("/docs")).text
        parts = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert len(parts) >= 3
        for part in parts:
            assert part.startswith("/"), "it is fetched from elsewhere"
            assert (await client.get(part)).is_success
