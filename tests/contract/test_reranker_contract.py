"""What every ``Reranker`` promises, run on each implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from infra.models.cross_encoder import CrossEncoderReranker
from infra.models.http_reranker import HttpReranker
from infra.models.serving.requests import named
from stages.ports import Reranker
from tests.fakes.model_server import ModelServer, serving
from tests.fakes.reranker import WordsShared, small_cross_encoder

QUERY = "when does the ferry leave"
TEXTS = (
    "",
    "the ferry leaves at nine",
    "we walked the old blue dog",
    "昨日",
    "a \ud800 b",
    "the sea is old and the kitchen floor is blue " * 20,
)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrossEncoderReranker]:
    made = CrossEncoderReranker(str(small_cross_encoder(tmp_path_factory.mktemp("cross"))), device="cpu")
    yield made
    made.close()


@pytest.fixture(scope="module", params=["words", "cross-encoder", "served words", "served cross-encoder"])
def reranker(request: pytest.FixtureRequest) -> Iterator[Reranker]:
    has_words = request.param.endswith("words")
    model: Reranker = WordsShared() if has_words else request.getfixturevalue("cross_encoder")
    if request.param.startswith("served"):
        with served(model) as client:
            yield client
    else:
        yield model


@contextmanager
def served(inner: Reranker) -> Iterator[HttpReranker]:
    with serving(ModelServer(reranker=inner)) as url:
        client = HttpReranker(f"{url}#{named(inner.model).name}")
        yield client
        client.close()


def score(reranker: Reranker, *texts: str) -> list[int]:
    return asyncio.run(reranker.score(QUERY, texts))


def test_a_score_for_each_text_in_whole_thousandths(reranker: Reranker) -> None:
    scores = score(reranker, *TEXTS)
    assert [type(one) for one in scores] == [int] * len(TEXTS)
    assert len(set(scores)) > 1
    assert score(reranker) == []
    assert reranker.model


def test_a_score_is_a_function_of_the_pair_alone(reranker: Reranker) -> None:
    alone = [score(reranker, text)[0] for text in TEXTS]
    assert score(reranker, *TEXTS) == alone
    assert score(reranker, *reversed(TEXTS), *TEXTS) == [*reversed(alone), *alone]


async def test_concurrent_questions_do_not_mix(reranker: Reranker) -> None:
    both = await asyncio.gather(*(reranker.score(query, TEXTS) for query in (QUERY, "dog", QUERY)))
    assert both[0] == both[2] == await reranker.score(QUERY, TEXTS)


async def test_scores_over_http_are_those_in_process(cross_encoder: CrossEncoderReranker) -> None:
    with served(cross_encoder) as client:
        assert await client.score(QUERY, TEXTS) == await cross_encoder.score(QUERY, TEXTS)
