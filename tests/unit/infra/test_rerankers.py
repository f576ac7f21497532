"""Rerankers that are absent, wrong, slow or not what was named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import JSONResponse, PlainTextResponse

from infra.errors import ModelMissing, UsageError
from infra.models.cross_encoder import CrossEncoderReranker
from infra.models.http_reranker import HttpReranker, logit
from infra.models.serving.requests import probability
from infra.rerankers import BoundedReranker, make_reranker, reranker_of
from infra.settings import Settings
from stages.contract import Unavailable
from tests.fakes.extras import with_models
from tests.fakes.model_server import ModelServer, scores, serving
from tests.fakes.reranker import small_cross_encoder


@contextmanager
def client_of(answer: Any) -> Iterator[HttpReranker]:
    with serving(ModelServer(instead={"rerank": [answer]})) as url:
        client = HttpReranker(f"{url}#m")
        yield client
        client.close()


@pytest.mark.parametrize(
    ("given_scores", "want"),
    [
        ((0.5, 0.9999, 0.0, 1), [0, 9210, -20723, 20723]),  # probabilities
        ((-3.25, 0.5), [-3250, 500]),  # logits
    ],
)
async def test_probabilities_and_logits_are_told_apart(given_scores: tuple[float, ...], want: list[int]) -> None:
    with client_of(scores(*given_scores)) as client:
        assert await client.score("q", ["t"] * len(want)) == want


@pytest.mark.parametrize(
    "answer",
    [
        PlainTextResponse("full", 503),
        PlainTextResponse("what?", 400),
        PlainTextResponse("prose"),
        JSONResponse([]),
        scores(),
        scores(0.1, 0.2, 0.3),
        scores(0.1, None),
        scores(0.1, "high"),
        PlainTextResponse('{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 0}]}'),
        JSONResponse({"results": [{"index": 1, "relevance_score": 0.1}] * 2}),
        JSONResponse({"results": [{"index": [], "relevance_score": 0.1}] * 2}),
        JSONResponse({"results": [{"index": index, "relevance_score": 0.1} for index in (False, True)]}),
        scores(0.1, bool(1)),
        scores(0.1, 10**400),
        scores(0.1, 1e308),
        PlainTextResponse("[" * 200_000),
    ],
)
async def test_what_is_no_score_for_each_is_no_answer(answer: Any) -> None:
    with client_of(answer) as client, pytest.raises(Unavailable):
        await client.score("q", ["a", "b"])


async def test_a_request_is_spelled_as_servers_take_it() -> None:
    server = ModelServer(instead={"rerank": [scores(0.1, 0.2)]})
    with serving(server) as url:
        client = HttpReranker(f"{url}#m", "key")
        await client.score("q", ["a", "b"])
        client.close()
    assert json.loads(server.asked[0][1]) == {"model": "m", "query": "q", "documents": ["a", "b"], "top_n": 2}
    assert server.headers[0]["authorization"] == "Bearer key"


async def test_a_reranker_that_takes_too_long_does_not_answer() -> None:
    class Slow(HttpReranker):
        async def score(self, query: str, texts: Sequence[str]) -> list[int]:
            await asyncio.Event().wait()
            return []

    bounded = BoundedReranker(Slow("http://127.0.0.1:9/v1#m"), 0.01)
    with pytest.raises(Unavailable, match=r"within 0\.01 s"):
        await bounded.score("q", ["t"])
    bounded.close()


@pytest.mark.parametrize("fault", [ModelMissing("m", "gone", "fetch it"), ZeroDivisionError("odd"), ValueError()])
async def test_whatever_befalls_a_reranker_recall_goes_on_without_it(fault: Exception) -> None:
    class Faulty(HttpReranker):
        async def score(self, query: str, texts: Sequence[str]) -> list[int]:
            raise fault

    bounded = BoundedReranker(Faulty("http://127.0.0.1:9/v1#m"), 1.0)
    with pytest.raises(Unavailable, match=r"reranker m does not answer|model m is missing"):
        await bounded.score("q", ["t"])
    bounded.close()


def test_no_call_goes_on_for_longer_than_recall_waits(tmp_path: Path) -> None:
    made = make_reranker(Settings(home=tmp_path, reranker="openai:http://127.0.0.1:9/v1#m", reranker_wait=0.5))
    assert made is not None
    assert isinstance(made.inner, HttpReranker)
    assert made.inner._endpoint._answer_s == 0.5
    made.close()


@with_models
async def test_scores_that_are_no_numbers_are_no_answer(tmp_path: Path) -> None:
    broken = CrossEncoderReranker(str(small_cross_encoder(tmp_path / "one")), device="cpu")
    for parameter in broken._pool.loaded()._model.parameters():
        parameter.data.fill_(float("nan"))
    with pytest.raises(Unavailable, match="no finite scores"):
        await broken.score("q", ["t"])
    broken.close()


@pytest.mark.parametrize("choice", ["bert", "openai:", "openai:ftp://x#m", "sentence-transformers:"])
def test_another_form_is_wrong_use(choice: str) -> None:
    with pytest.raises(UsageError, match="ANABRANCH_RERANKER"):
        reranker_of(choice)


def test_unset_there_is_none(tmp_path: Path) -> None:
    assert make_reranker(Settings(home=tmp_path)) is None


@with_models
async def test_a_folder_without_a_model_and_a_model_of_two_labels_are_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"modules\.json"):
        CrossEncoderReranker(str(tmp_path))
    two = CrossEncoderReranker(str(small_cross_encoder(tmp_path / "two", labels=2)), device="cpu")
    with pytest.raises(ModelMissing, match="2 scores a pair"):
        await two.score("q", ["t"])
    two.close()
    with pytest.raises(Unavailable):
        await two.score("q", ["t"])


@given(st.integers(-18_000, 18_000))
def test_a_score_survives_the_way_over_probabilities(score: int) -> None:
    assert round(1000 * logit(probability(score))) == score
