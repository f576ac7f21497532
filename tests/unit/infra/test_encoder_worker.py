"""How the encoder's worker merges, orders and isolates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.errors import ModelMissing
from infra.models.worker import EncoderWorker
from stages.contract import Unavailable
from tests.fakes.encoder import FakeEncoder

BIG = 1 << 20


@pytest.fixture
def fake() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def worker(fake: FakeEncoder) -> Iterator[EncoderWorker]:
    made = EncoderWorker(lambda: fake, BIG)  # type: ignore[arg-type,return-value]  # the fake has the parts it uses
    yield made
    fake.gate.set()
    made.close()


def hold(worker: EncoderWorker, fake: FakeEncoder) -> None:
    """Let the worker stand in a call, so that what comes next queues up."""
    fake.gate.clear()
    worker.submit(["held"])
    assert fake.entered.wait(30)
    fake.calls.clear()


def test_results_come_in_the_order_asked_repeats_included(worker: EncoderWorker, fake: FakeEncoder) -> None:
    texts = ["b", "a", "b", "c" * 40, "a"]
    assert worker.submit(texts).result(30) == [fake.vector(text) for text in texts]
    assert (worker.asked, worker.encoded) == (5, 3)


def test_concurrent_calls_are_merged_full_buckets_first(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    futures = [worker.submit(["long " * 5 + str(n)]) for n in range(3)]
    futures += [worker.submit([f"s{n}", f"s{n + 1}"]) for n in range(16)]
    fake.gate.set()
    for future in futures:
        future.result(30)
    assert [len(call) for call in fake.calls] == [16, 3, 1]


def test_a_text_in_flight_or_cached_is_encoded_once(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    futures = [worker.submit(["same", f"own {n}"]) for n in range(3)]
    fake.gate.set()
    assert {future.result(30)[0] for future in futures} == {fake.vector("same")}
    worker.submit(["same"]).result(30)
    assert sum(call.count("same") for call in fake.calls) == 1


def test_a_query_waits_behind_at_most_one_running_call(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    bulk = worker.submit([f"t{n}" for n in range(200)])
    query = worker.submit_query("who?")
    fake.gate.set()
    assert query.result(30) == fake.vector("who?")
    bulk.result(30)
    assert fake.calls[0] == ["query: who?"]


def test_an_odd_text_fails_alone(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    good, bad = worker.submit(["fine", "well"]), worker.submit(["odd one"])
    fake.gate.set()
    assert good.result(30) == [fake.vector("fine"), fake.vector("well")]
    with pytest.raises(RuntimeError, match="odd text"):
        bad.result(30)
    assert worker.submit(["fine again"]).result(30) == [fake.vector("fine again")]


def test_a_part_filled_bucket_is_not_starved_by_full_ones(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    rare = worker.submit(["r" * 40])
    crowd = worker.submit([f"n{n}" for n in range(16 * 60)])
    fake.gate.set()
    rare.result(30)
    crowd.result(30)
    position = next(i for i, call in enumerate(fake.calls) if call == ["r" * 40])
    assert position <= 34


def test_evicted_vectors_are_made_again_the_same(fake: FakeEncoder) -> None:
    worker = EncoderWorker(lambda: fake, 0)  # type: ignore[arg-type,return-value]
    first, second = worker.submit(["x"]).result(30), worker.submit(["x"]).result(30)
    worker.close()
    assert first == second
    assert worker.encoded == 2


def test_an_encoder_that_can_t_be_loaded_fails_every_caller_and_is_tried_again(fake: FakeEncoder) -> None:
    attempts = iter([ModelMissing("m", "gone", "fetch m"), None])

    def load() -> FakeEncoder:
        error = next(attempts)
        if error:
            raise error
        return fake

    worker = EncoderWorker(load, BIG)  # type: ignore[arg-type]
    with pytest.raises(ModelMissing, match="fetch m"):
        worker.submit(["x"]).result(30)
    assert worker.submit_query("x").result(30) == fake.vector("x")
    worker.close()


def test_who_waits_when_it_closes_hears_so(worker: EncoderWorker, fake: FakeEncoder) -> None:
    hold(worker, fake)
    waiting = worker.submit(["never"])
    worker._closed = True  # closing itself waits for the call that the gate holds
    fake.gate.set()
    worker.close()
    with pytest.raises(Unavailable, match="closed"):
        waiting.result(30)
    with pytest.raises(Unavailable, match="closed"):
        worker.submit(["later"])
