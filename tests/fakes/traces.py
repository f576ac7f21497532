"""Publishers who trace their turns, and what is kept of the spans that come of it: in memory, or sent as OTLP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from infra.telemetry import Spans
from streams.effects import Inbound


def traceparent(number: int, *, sampled: bool = True) -> bytes:
    """The context of a publisher whose trace and span both have this number."""
    return f"00-{number:032x}-{number:016x}-{sampled:02x}".encode()


def traced(records: list[Inbound], **more: Any) -> list[Inbound]:
    """Give each record a context of its own: the number of its offset."""
    return [replace(record, trace=traceparent(record.offset, **more)) for record in records]


@dataclass
class Kept:
    """Spans in memory; ``tracing`` is what an engine tells them to."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    def __post_init__(self) -> None:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracing = Spans(provider.get_tracer("test"), {"messaging.system": "kafka"})

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def outcomes(self, name: str) -> list[tuple[Any, Any]]:
        """Event id and outcome of each span, in the order in which they were told."""
        said = [span.attributes or {} for span in self.named(name)]
        return [(one.get("anabranch.event_id"), one["anabranch.outcome"]) for one in said]


@dataclass(frozen=True, slots=True)
class Received:
    """A span as a collector gets it."""

    name: str
    trace: int
    parent: int
    service: str
    about: dict[str, str | int]


@dataclass
class Collector:
    """What was sent to an address of this machine."""

    port: int = 0
    spans: list[Received] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def take(self, body: bytes) -> None:
        for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
            (service,) = [one.value.string_value for one in sent.resource.attributes if one.key == "service.name"]
            for span in (span for scope in sent.scope_spans for span in scope.spans):
                about = {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
                trace, parent = int.from_bytes(span.trace_id, "big"), int.from_bytes(span.parent_span_id, "big")
                self.spans.append(Received(span.name, trace, parent, service, about))


class _Answer(BaseHTTPRequestHandler):
    def __init__(self, collector: Collector, *given: Any) -> None:
        self.collector = collector
        super().__init__(*given)

    def do_POST(self) -> None:
        self.collector.take(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens inside the block."""
    one = Collector()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Answer, one)) as server:
        one.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield one
        finally:
            server.shutdown()
