"""A served embedder that is slow, wrong, busy or gone: a stage waits, and nothing that is no vector gets through."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import JSONResponse, PlainTextResponse, Response

from infra.embedders import make_embedder
from infra.errors import UsageError
from infra.models import HashEmbedder
from infra.models.encoder import quantize
from infra.models.http_embedder import HttpEmbedder, TextRefusedError
from stages.contract import Unavailable
from tests.fakes.model_server import ModelServer, cut_short, serving, vectors

TEXT = "The ferry leaves at nine."


@contextmanager
def client_of(server: ModelServer, **how: Any) -> Iterator[HttpEmbedder]:
    with serving(server) as url:
        client = HttpEmbedder(f"{url}#hash", **how)
        yield client
        client.close()


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(HashEmbedder())


def said(server: ModelServer, path: str) -> list[dict[str, Any]]:
    return [json.loads(body) for name, body in server.asked if name == path]


async def test_vectors_are_those_of_the_model_bit_for_bit_in_either_spelling(server: ModelServer) -> None:
    texts = [TEXT, "", "昨日", "a \ud800 b"]
    with client_of(server) as client:
        want = await HashEmbedder().embed([text.encode("utf-8", "replace").decode() for text in texts])
        assert await client.embed(texts) == want
        numbers = [[int(n) / 127 for n in np.frombuffer(row, np.int8)] for row in want[:1]]
        server.instead["embeddings"] = [vectors(*numbers)]
        assert await client.embed(["another"]) == want[:1]


async def test_calls_have_at_most_16_texts_and_each_text_is_asked_for_once(server: ModelServer) -> None:
    texts = [f"crate {number}" for number in range(100)]
    with client_of(server) as client:
        assert client.dimension == 384
        server.asked.clear()
        await asyncio.gather(client.embed(texts), client.embed(texts[::-1]))
        await client.embed(texts)
    calls = [asked["input"] for asked in said(server, "embeddings")]
    assert max(map(len, calls)) <= 16
    assert sorted(text for call in calls for text in call) == sorted(texts)


async def test_name_and_dimension_are_asked_once_and_a_server_without_a_list_says_no_revision(
    server: ModelServer,
) -> None:
    server.instead["models"] = [JSONResponse({}, 404)]
    with client_of(server) as client:
        assert [client.model, client.model, client.dimension] == ["hash@unstated", "hash@unstated", 384]
        await client.embed([])
    assert [path for path, _ in server.asked] == ["models", "embeddings"]


async def test_the_key_goes_with_every_request_and_questions_say_that_they_are(server: ModelServer) -> None:
    with client_of(server, key="s3cret") as client:
        await client.embed_query(TEXT)
    assert {one["authorization"] for one in server.headers} == {"Bearer s3cret"}
    assert [asked.get("input_type") for asked in said(server, "embeddings")] == [None, "query"]


def no_vectors() -> dict[str, tuple[Response, str]]:
    unit = [1.0] + [0.0] * 383
    nan = b64encode(np.full(384, math.nan, "<f4").tobytes()).decode()
    return {
        "429": (PlainTextResponse("slow down", 429), "429: slow down"),
        "500": (PlainTextResponse("", 500), "500: no words"),
        "503": (PlainTextResponse("full", 503), "503"),
        "401": (PlainTextResponse("who?", 401), "ANABRANCH_EMBEDDER_KEY"),
        "404": (JSONResponse({"error": "no model"}, 404), "404"),
        "400 for all": (PlainTextResponse("no such model", 400), "no such model"),
        "a broken connection": (cut_short(), "no answer"),
        "prose": (PlainTextResponse("Here are your vectors:"), "no JSON"),
        "another shape": (JSONResponse([1]), "0 vectors"),
        "too few": (vectors(), "0 vectors"),
        "too many": (vectors(unit, unit), "2 vectors"),
        "another number": (JSONResponse({"data": [{"index": 7, "embedding": unit}]}), "in no order"),
        "another dimension": (vectors([1.0, 0.0]), "vector of 2"),
        "NaN": (vectors(nan), "no vector"),
        "zeros": (vectors([0.0] * 384), "no vector"),
        "words": (vectors(["a"] * 384), "no vector"),
        "no base64": (vectors("&&&"), "no vector"),
        "nested": (vectors([unit]), "no vector"),
        "huge": (vectors(["1e400", *unit[1:]]), "no vector"),
        "packed": (PlainTextResponse(gzip.compress(b"[]"), headers={"content-encoding": "gzip"}), "packed"),
        "nested without end": (PlainTextResponse("[" * 200_000), "no JSON"),
        "no index": (JSONResponse({"data": [{"index": {}, "embedding": unit}]}), "in no order"),
        "true for an index": (JSONResponse({"data": [{"index": False, "embedding": unit}]}), "in no order"),
        "a length beyond floats": (vectors([1e308] * 384), "no vector"),
        "a length below floats": (vectors([1e-200] * 384), "no vector"),
        "another revision": (vectors(unit, revision="3"), "revision 3"),
    }


@pytest.mark.parametrize("case", no_vectors())
async def test_what_is_no_vector_is_no_answer_and_is_not_kept(server: ModelServer, case: str) -> None:
    answer, told = no_vectors()[case]
    with client_of(server) as client:
        assert client.dimension == 384
        server.instead["embeddings"] = [answer]
        with pytest.raises(Unavailable, match=told):
            await client.embed([TEXT])
        server.instead.clear()
        assert await client.embed([TEXT]) == await HashEmbedder().embed([TEXT])


async def test_nobody_there_is_no_answer_and_is_asked_again() -> None:
    with serving(ModelServer(HashEmbedder())) as url:
        pass
    client = HttpEmbedder(f"{url}#hash")
    with pytest.raises(Unavailable, match="no answer"):
        await client.embed([TEXT])
    with pytest.raises(Unavailable, match="no answer"):
        client.model  # noqa: B018 - asking is what fails
    client.close()
    with pytest.raises(Unavailable, match="closed"):
        await client.embed([TEXT])


async def test_a_text_too_long_for_the_model_is_cut_and_a_refused_one_fails_alone() -> None:
    server = ModelServer(HashEmbedder())
    real = server._real

    async def strict(path: str, body: bytes) -> Response:
        texts = json.loads(body)["input"] if path == "embeddings" else []
        bad = any(len(text) > 700 or "odd" in text for text in texts)
        return PlainTextResponse("too long or odd", 400) if bad else await real(path, body)

    server._real = strict  # type: ignore[method-assign]
    with client_of(server) as client:
        long = "word " * 500
        good, cut = await client.embed([TEXT, long])
        assert [good, cut] == await HashEmbedder().embed([TEXT, long[: len(long) // 4]])
        both = await asyncio.gather(client.embed(["fine"]), client.embed(["odd"]), return_exceptions=True)
    assert both[0] == await HashEmbedder().embed(["fine"])
    assert isinstance(both[1], TextRefusedError)


def test_vectors_longer_than_the_index_takes_are_wrong_use(server: ModelServer) -> None:
    server.instead["embeddings"] = [vectors([1.0] * 5000)]
    with client_of(server) as client, pytest.raises(UsageError, match="5000"):
        client.dimension  # noqa: B018


def test_the_setting_makes_one_and_asks_nothing_yet() -> None:
    made = make_embedder("openai:http://127.0.0.1:9/v1#m")
    assert isinstance(made, HttpEmbedder)
    made.close()


@settings(max_examples=30)
@given(st.lists(st.integers(-127, 127), min_size=64, max_size=1024).filter(any))
def test_an_int8_vector_of_length_127_survives_the_way_over_floats(numbers: list[int]) -> None:
    vector = quantize(np.array(numbers, dtype=np.float64))
    sent = (np.frombuffer(vector, np.int8).astype("<f4") / np.float32(127)).astype(np.float64)
    assert quantize(sent) == vector
