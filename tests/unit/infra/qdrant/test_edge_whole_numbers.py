"""Scores are whole numbers that no order of summing, segment or length of query can move."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.qdrant import EdgeIndex, bm25
from schemas.memory import RecordKind
from schemas.space import Space
from stages.ports import Filter
from stages.text.tokens import tokens
from tests.fakes.folders import quick_folder
from tests.fakes.index import MemoryIndex
from tests.fakes.index_rows import event, record

A = Space("acme/a")
WORDS = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
TURN = frozenset({RecordKind.TURN})
SIZE = 384


@pytest.fixture
async def edge() -> AsyncIterator[EdgeIndex]:
    with quick_folder() as folder:
        index = EdgeIndex.open(folder, generation=1, model="test", dimension=SIZE)
        yield index
        await index.close()


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), max_size=400))))
def test_sums_of_any_query_stay_exact_in_float32(corpus: tuple[int, list[int]]) -> None:
    records, frequencies = corpus
    asked = [f"w{number}" for number in range(len(frequencies))]
    holding = {bm25.dimension(A, token): count for token, count in zip(asked, frequencies, strict=True)}
    values = bm25.query(A, asked, records, holding.__getitem__)
    greatest = sum(value * 122 for value in values.values())
    assert greatest < 2**24
    assert float(np.float32(greatest)) == greatest
    assert all(holding[dim] for dim in values)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=300))
def test_weights_are_bm25s_to_half_a_step(words: list[str]) -> None:
    weighed = bm25.weights(A, words)
    for word in set(words):
        count = words.count(word)
        exact = count * 1.9 / (count + 0.9 * (0.6 + 0.4 * len(words) / 50))
        assert weighed[bm25.dimension(A, word)] == max(1, math.floor(64 * exact + 0.5))
        assert weighed[bm25.dimension(A, word)] <= 122


def test_a_word_has_a_dimension_of_its_own_in_each_space() -> None:
    assert bm25.dimension(A, "river") == 2232975959  # stored in every index: it must stay
    assert bm25.dimension(A, "river") != bm25.dimension(Space("acme/b"), "river")


def test_the_commonest_words_of_an_endless_query_are_left_out() -> None:
    asked = [f"w{number}" for number in range(3000)]
    holding = {bm25.dimension(A, token): 1 + number for number, token in enumerate(asked)}
    kept = bm25.query(A, asked, 10**6, holding.__getitem__)
    assert 0 < len(kept) < 3000
    dropped = holding.keys() - kept.keys()
    assert max(holding[dim] for dim in kept) <= min(holding[dim] for dim in dropped)


async def test_optimizing_moves_no_score_and_no_order(edge: EdgeIndex) -> None:
    """Segments sum in orders of their own: fractional scores differed in the last bits before and after."""
    rng = np.random.default_rng(3)
    rows = [record(A, n, " ".join(rng.choice(WORDS, int(rng.integers(1, 30))))) for n in range(3000)]
    vectors = [v.tobytes() for v in rng.integers(-20, 21, (len(rows), SIZE), dtype=np.int8)]
    await edge.write(A, [event(A, 2999, rows, list(zip(rows, vectors, strict=True)))])
    queries = [list(rng.choice(WORDS, 12)) for _ in range(20)]
    where = Filter(A, 2500, TURN)
    before = await edge.lexical(where, queries, 40), await edge.nearest(where, vectors[:20], 40)
    await edge.optimize()
    assert (await edge.lexical(where, queries, 40), await edge.nearest(where, vectors[:20], 40)) == before
    plain = MemoryIndex(SIZE)
    await plain.write(A, [event(A, 2999, rows, list(zip(rows, vectors, strict=True)))])
    assert (await plain.lexical(where, queries[:2], 40), await plain.nearest(where, vectors[:2], 40)) == (
        before[0][:2],
        before[1][:2],
    )


def test_tokens_of_a_record_are_those_of_its_text() -> None:
    weighed = bm25.weights(A, tokens("Rivers running"))
    assert set(weighed) == {bm25.dimension(A, "river"), bm25.dimension(A, "run")}
