"""Spans of traced events: what they say for each outcome, and when they are told."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from infra.telemetry import INDEX_WRITE
from stages.contract import Reject, Unavailable
from streams.effects import Cut, Inbound
from streams.engine import CUT
from tests.fakes.odd_stages import odd_topology
from tests.fakes.recorder import SPACE, Recorder, engine, log, wired
from tests.fakes.runtime import Died, event
from tests.fakes.traces import Kept, traced, traceparent

NORMALIZE = "anabranch.normalize"


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def first(kept: Kept, recorder: Recorder, verdict: Any = lambda text: None) -> Any:
    one = engine(recorder, verdict)
    one.tracing = kept.tracing
    return one


async def through(kept: Kept, records: list[Inbound]) -> list[Recorder]:
    """Take records through the five stages, and return what each did."""
    done = []
    for node in odd_topology():
        recorder = Recorder()
        one = wired(recorder, node, is_first=node.name == "normalize", is_last=node.name == "commit")
        one.tracing = kept.tracing
        await one.advance(SPACE, records)
        outputs = [output for cut in recorder.cuts for output in cut.outputs]
        records = [Inbound(i, o.body, o.header, o.marker, trace=o.trace) for i, o in enumerate(outputs, start=1)]
        done.append(recorder)
    return done


async def test_an_event_that_is_emitted_is_a_child_of_its_publisher(kept: Kept) -> None:
    (record,) = traced(log("hello"))
    await first(kept, Recorder()).advance(SPACE, [replace(record, partition=5)])
    (span,) = kept.named(NORMALIZE)
    assert span.parent is not None
    assert (span.parent.trace_id, span.parent.span_id, span.parent.is_remote) == (1, 1, True)
    assert (span.kind, span.status.status_code) == (SpanKind.CONSUMER, StatusCode.UNSET)
    assert dict(span.attributes or {}) == {
        "messaging.system": "kafka",
        "anabranch.space": SPACE,
        "anabranch.event_id": "t1",
        "anabranch.position": 0,
        "anabranch.stage": "normalize",
        "anabranch.outcome": "emitted",
        "messaging.destination.partition.id": "5",
        "messaging.kafka.offset": 1,
    }
    (decided,) = span.events
    assert decided.name == "decided"
    assert (span.start_time or 0) <= decided.timestamp <= (span.end_time or 0)


async def test_a_letter_is_an_error_with_its_reason(kept: Kept) -> None:
    recorder = Recorder()
    records = [*log("fine", "bad"), Inbound(3, b"no turn at all")]
    await first(kept, recorder, lambda text: Reject("odd\nmore") if text == "bad" else None).advance(
        SPACE, traced(records)
    )
    assert kept.outcomes(NORMALIZE) == [("t1", "emitted"), ("t2", "lettered"), (None, "lettered")]
    _, refused, alone = kept.named(NORMALIZE)
    assert (refused.status.status_code, refused.status.description) == (StatusCode.ERROR, "odd")
    assert (refused.attributes or {})["anabranch.position"] == 1
    assert alone.status.status_code is StatusCode.ERROR
    assert "not JSON" in str(alone.status.description)
    assert "anabranch.position" not in (alone.attributes or {})


async def test_a_duplicate_takes_no_position_and_is_no_error(kept: Kept) -> None:
    again = Inbound(2, event(SPACE, "t1", "hello"))
    await first(kept, Recorder()).advance(SPACE, traced([*log("hello"), again]))
    assert kept.outcomes(NORMALIZE) == [("t1", "emitted"), ("t1", "duplicate")]
    span = kept.named(NORMALIZE)[1]
    assert "anabranch.position" not in (span.attributes or {})
    assert (span.parent and span.parent.trace_id, span.status.status_code) == (2, StatusCode.UNSET)


async def test_what_is_durable_and_comes_again_is_not_told_again(kept: Kept) -> None:
    recorder, records = Recorder(), traced(log("one", "two"))
    await first(kept, recorder).advance(SPACE, records)
    await first(kept, recorder).advance(SPACE, [*records, *traced(log("three", start=3))])
    assert kept.outcomes(NORMALIZE) == [("t1", "emitted"), ("t2", "emitted"), ("t3", "emitted")]


class Mortal(Recorder):
    """Dies once, when the outputs are written and the state is not."""

    died = False

    async def state(self, cut: Cut) -> None:
        if not self.died:
            self.died = True
            raise Died
        await super().state(cut)


async def test_what_is_done_again_is_told_once_and_its_outputs_are_the_same(kept: Kept) -> None:
    """The context in the topics stays the publisher's: a span has another id each time it is made."""
    recorder, records = Mortal(), traced(log("one", "two"))
    with pytest.raises(Died):
        await first(kept, recorder).advance(SPACE, records)
    assert kept.outcomes(NORMALIZE) == []
    await first(kept, recorder).advance(SPACE, records)
    assert kept.outcomes(NORMALIZE) == [("t1", "emitted"), ("t2", "emitted")]
    before, after = (cut.outputs for cut in recorder.cuts)
    assert before == after
    assert [output.trace for output in after] == [traceparent(1), traceparent(2)]


async def test_each_event_of_a_batch_is_a_child_of_its_own_publisher(kept: Kept) -> None:
    count = 2 * CUT + 6
    await first(kept, Recorder()).advance(SPACE, traced(log(*(f"turn {i}" for i in range(count)))))
    spans = kept.named(NORMALIZE)
    assert [span.parent.trace_id for span in spans if span.parent] == list(range(1, count + 1))
    assert len({span.end_time for span in spans}) == 3, "those of a cut are durable together"
    began = [span.start_time or 0 for span in spans]
    assert began == sorted(began)


async def test_waiting_is_part_of_the_span_and_tells_what_was_done_before(kept: Kept) -> None:
    calls = [0]

    def verdict(text: str) -> object:
        calls[0] += text == "two"
        return Unavailable("asleep") if text == "two" and calls[0] < 3 else None

    await first(kept, Recorder(), verdict).advance(SPACE, traced(log("one", "two")))
    one, two = kept.named(NORMALIZE)
    assert (one.end_time or 0) < two.events[0].timestamp
    assert two.events[0].timestamp - (two.start_time or 0) > 1_000_000, "two pauses of a millisecond and more"


async def test_all_stages_are_side_by_side_and_the_index_write_is_inside_the_last(kept: Kept) -> None:
    stages = [f"anabranch.{node.name}" for node in odd_topology()]
    await through(kept, traced(log("hello", "there")))
    for name in stages:
        assert kept.outcomes(name) == [("t1", "emitted"), ("t2", "emitted")]
        assert [span.parent and (span.parent.trace_id, span.parent.span_id) for span in kept.named(name)] == [
            (1, 1),
            (2, 2),
        ]
    for number, (write, commit) in enumerate(zip(kept.named(INDEX_WRITE), kept.named(stages[-1]), strict=True), 1):
        assert write.parent == commit.context
        assert write.context is not None
        assert write.context.trace_id == number
        assert (commit.start_time or 0) <= (write.start_time or 0) <= (write.end_time or 0) <= (commit.end_time or 0)
        assert (write.attributes or {})["anabranch.event_id"] == f"t{number}"


async def test_a_letter_is_an_error_where_it_was_written_and_is_never_recallable(kept: Kept) -> None:
    recorders = await through(kept, traced(log("hello", "refused by route", "refused by commit")))
    assert recorders[-1].order.count("sink") == 1
    told = {
        name: [(o, span.status.description) for (_, o), span in zip(kept.outcomes(name), kept.named(name), strict=True)]
        for name in ("anabranch.extract_per_view", "anabranch.route", "anabranch.commit")
    }
    assert told == {
        "anabranch.extract_per_view": [("emitted", None)] * 3,
        "anabranch.route": [("emitted", None), ("lettered", "refused by route"), ("emitted", None)],
        "anabranch.commit": [("emitted", None), ("lettered", None), ("lettered", "refused by commit")],
    }
    assert [(span.attributes or {})["anabranch.event_id"] for span in kept.named(INDEX_WRITE)] == ["t1"]


@pytest.mark.parametrize("trace", [None, b"", b"\xff", b"00-0-0-01", traceparent(0), traceparent(7, sampled=False)])
async def test_no_span_belongs_to_no_trace(kept: Kept, trace: bytes | None) -> None:
    (record,) = log("hello")
    await first(kept, Recorder()).advance(SPACE, [replace(record, trace=trace)])
    assert kept.exporter.get_finished_spans() == ()


async def test_nothing_is_noted_if_nobody_listens() -> None:
    recorder = Recorder()
    await engine(recorder).advance(SPACE, traced(log("hello")))
    assert recorder.cuts[0].traced == []
    assert recorder.cuts[0].outputs[0].trace == traceparent(1)
