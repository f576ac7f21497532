"""How the encoder's pool merges, orders and isolates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import pytest

from infra.errors import ModelMissing
from infra.models.pool import EncoderPool
from stages.contract import Unavailable
from tests.fakes.encoder import FakeEncoder

BIG = 1 << 20
Pool: TypeAlias = EncoderPool[FakeEncoder]


@pytest.fixture
def fake() -> FakeEncoder:
    return FakeEncoder()


def pooled(fake: FakeEncoder, cache_bytes: int = BIG) -> Pool:
    return EncoderPool(lambda: fake, cache_bytes)


@pytest.fixture
def pool(fake: FakeEncoder) -> Iterator[Pool]:
    made = pooled(fake)
    yield made
    fake.gate.set()
    made.close()


def hold(pool: Pool, fake: FakeEncoder) -> None:
    """Let the pool stand in a call, so that what comes next queues up."""
    fake.gate.clear()
    pool.submit(["held"])
    assert fake.entered.acquire(timeout=30)
    fake.seen.clear()


def test_results_come_in_the_order_asked_repeats_included(pool: Pool, fake: FakeEncoder) -> None:
    texts = ["b", "a", "b", "c" * 40, "a"]
    assert pool.submit(texts).result(30) == [fake.vector(text) for text in texts]
    assert (pool.asked, pool.encoded) == (5, 3)


def test_concurrent_calls_are_merged_full_buckets_first(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    futures = [pool.submit(["long " * 5 + str(n)]) for n in range(3)]
    futures += [pool.submit([f"s{n}", f"s{n + 1}"]) for n in range(16)]
    fake.gate.set()
    for future in futures:
        future.result(30)
    assert [len(call) for call in fake.seen] == [16, 3, 1]


def test_a_text_in_flight_or_cached_is_encoded_once(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    futures = [pool.submit(["same", f"own {n}"]) for n in range(3)]
    fake.gate.set()
    assert {future.result(30)[0] for future in futures} == {fake.vector("same")}
    pool.submit(["same"]).result(30)
    assert sum(call.count("same") for call in fake.seen) == 1


def test_a_query_waits_behind_at_most_one_running_call(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    bulk = pool.submit([f"t{n}" for n in range(200)])
    query = pool.submit_query("who?")
    fake.gate.set()
    assert query.result(30) == fake.vector("who?")
    bulk.result(30)
    assert fake.seen[0] == ["query: who?"]


def test_an_odd_text_fails_alone(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    good, bad = pool.submit(["fine", "well"]), pool.submit(["odd one"])
    fake.gate.set()
    assert good.result(30) == [fake.vector("fine"), fake.vector("well")]
    with pytest.raises(RuntimeError, match="odd text"):
        bad.result(30)
    assert pool.submit(["fine again"]).result(30) == [fake.vector("fine again")]


def test_a_part_filled_bucket_is_not_starved_by_full_ones(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    rare = pool.submit(["r" * 40])
    crowd = pool.submit([f"n{n}" for n in range(16 * 60)])
    fake.gate.set()
    rare.result(30)
    crowd.result(30)
    position = next(i for i, call in enumerate(fake.seen) if call == ["r" * 40])
    assert position <= 34


def test_evicted_vectors_are_made_again_the_same(fake: FakeEncoder) -> None:
    pool = pooled(fake, 0)
    first, second = pool.submit(["x"]).result(30), pool.submit(["x"]).result(30)
    pool.close()
    assert first == second
    assert pool.encoded == 2


def test_an_encoder_that_can_t_be_loaded_fails_every_caller_and_is_tried_again(fake: FakeEncoder) -> None:
    attempts = iter([ModelMissing("m", "gone", "fetch m"), None])

    def load() -> FakeEncoder:
        error = next(attempts)
        if error:
            raise error
        return fake

    pool = EncoderPool(load, BIG)
    with pytest.raises(ModelMissing, match="fetch m"):
        pool.submit(["x"]).result(30)
    assert pool.submit_query("x").result(30) == fake.vector("x")
    pool.close()


def test_who_waits_when_it_closes_hears_so(pool: Pool, fake: FakeEncoder) -> None:
    hold(pool, fake)
    waiting = pool.submit(["never"])
    pool._closed = True  # closing itself waits for the call that the gate holds
    fake.gate.set()
    pool.close()
    with pytest.raises(Unavailable, match="closed"):
        waiting.result(30)
    with pytest.raises(Unavailable, match="closed"):
        pool.submit(["later"])


def test_two_calls_run_at_once_where_the_encoder_allows_two_and_a_third_waits() -> None:
    fake = FakeEncoder(calls=2)
    pool = pooled(fake)
    fake.gate.clear()
    futures = [pool.submit([f"{'longer ' * 5 * n}{n}"]) for n in range(3)]
    assert fake.entered.acquire(timeout=30)
    assert fake.entered.acquire(timeout=30)
    assert not fake.entered.acquire(timeout=0.05)
    fake.gate.set()
    assert [future.result(30) for future in futures] == [[fake.vector(f"{'longer ' * 5 * n}{n}")] for n in range(3)]
    pool.close()
    assert [thread.is_alive() for thread in pool._threads] == [False, False]


def test_a_part_filled_bucket_waits_while_others_are_tokenized() -> None:
    fake = FakeEncoder(calls=2)
    pool = pooled(fake)
    pool.submit(["loaded"]).result(30)
    fake.seen.clear()
    fake.tokenizer.clear()
    futures = [pool.submit([f"t{n}"]) for n in range(16)]
    fake.tokenizer.set()
    for future in futures:
        future.result(30)
    pool.close()
    assert [len(call) for call in fake.seen] == [16]


def test_queries_from_many_threads_are_answered_beside_bulk(fake: FakeEncoder) -> None:
    fake.calls = 4
    pool = pooled(fake)
    bulk = pool.submit([f"text {n}" for n in range(500)])
    queries = [pool.submit_query(f"question {n % 7}") for n in range(100)]
    assert [query.result(30) for query in queries] == [fake.vector(f"question {n % 7}") for n in range(100)]
    assert bulk.result(30) == [fake.vector(f"text {n}") for n in range(500)]
    assert pool.encoded == 500
    pool.close()
