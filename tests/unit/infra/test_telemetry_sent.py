"""Where the spans of a worker go: to the collector that OpenTelemetry's own variables name, or nowhere."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time

import pytest

from infra.errors import UsageError
from infra.telemetry import INDEX_WRITE, tracing
from streams.tracing import NoTracing, Outcome, Traced
from tests.fakes.recorder import SPACE
from tests.fakes.traces import collector, traceparent

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
TOLD = Traced(traceparent(3), 1, 9, (time.time_ns(), time.time_ns()), Outcome.EMITTED, "t1", 0)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def test_the_collector_that_is_named_gets_them_before_the_worker_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as one:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", one.address)
        with tracing("commit", 2, "turns.routed", "anabranch.commit") as told:
            told.tell("commit", SPACE, [TOLD], (time.time_ns(), time.time_ns()))
    assert [(span.name, span.trace, span.service) for span in one.spans] == [
        (INDEX_WRITE, 3, "anabranch"),
        ("anabranch.commit", 3, "anabranch"),
    ]
    about = one.spans[1].about
    assert about["messaging.client.id"] == "anabranch-commit-2"
    assert (about["messaging.destination.name"], about["messaging.consumer.group.name"]) == (
        "turns.routed",
        "anabranch.commit",
    )


def test_its_own_variables_name_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as one:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{one.address}/v1/traces")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "memory-of-rook")
        with tracing("route", 0, "turns.extracted", "anabranch.route") as told:
            told.tell("route", SPACE, [TOLD], None)
    assert [span.service for span in one.spans] == ["memory-of-rook"]


@pytest.mark.parametrize("off", [{}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_nobody_listens_unless_a_collector_is_named(off: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    if off:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    for name, value in off.items():
        monkeypatch.setenv(name, value)
    with tracing("route", 0, "turns.extracted", "anabranch.route") as told:
        assert told == NoTracing()


def test_a_missing_sdk_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, EXPORTER, None)
    with caplog.at_level(logging.WARNING), tracing("route", 0, "turns.extracted", "anabranch.route") as told:
        assert told == NoTracing()
    (line,) = caplog.records
    assert (line.levelname, vars(line)["event"]) == ("WARNING", "untraced")
    assert "install anabranch[otel]" in line.getMessage()


def test_variables_that_do_not_go_together_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
    with pytest.raises(UsageError, match="max_export_batch_size"), tracing("route", 0, "x", "y"):
        pass


def test_a_collector_that_does_not_answer_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.telemetry._LAST_S", 0.2)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3")
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with tracing("route", 0, "turns.extracted", "anabranch.route") as told:
            told.tell("route", SPACE, [TOLD], None)
            begun = time.monotonic()
        assert 0.1 < time.monotonic() - begun < 2
