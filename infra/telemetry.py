"""Spans of what stages make of traced events, for OpenTelemetry.

A span accounts for one event in one stage and is a child of the publisher's context: the conventions for messaging
allow that for single messages, and want links where a span accounts for many, since it has one parent only. An index
write is of a whole cut, up to 32 events. It still makes a span for each of them, inside that of the last stage: what a
trace is to show is when its own turn could be recalled, and a span that is merely linked to it stands in another trace.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from time import time_ns
from typing import TYPE_CHECKING, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from infra.errors import UsageError
from infra.settings import traces_wanted
from schemas.space import Space
from streams.tracing import NoTracing, Outcome, Period, Traced, Tracing

if TYPE_CHECKING:  # an extra that few have
    from opentelemetry.sdk.trace import TracerProvider

INDEX_WRITE: Final = "anabranch.index.write"
"""The span inside which a turn became recallable."""

_LAST_S: Final = 5.0
"""Seconds for the last spans when a worker ends: a collector that is away must not make its end look like a hang."""

_W3C: Final = TraceContextTextMapPropagator()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spans:
    """Implements ``Tracing``: makes spans by ``tracer``. ``about`` is what all of a worker's spans say."""

    tracer: Tracer
    about: Mapping[str, str]
    on: bool = True

    def now(self) -> int:
        """Return the time in nanoseconds since 1970: when something happened is what a span is for."""
        return time_ns()

    def tell(self, stage: str, space: Space, events: Sequence[Traced], written: Period | None) -> None:
        """Make the spans of a cut; those of a publisher who does not sample cost next to nothing."""
        ended = self.now()
        for event in events:
            if (parent := _publishers(event.trace)) is not None:
                span = self._handled(stage, space, event, parent)
                if written is not None and event.outcome is Outcome.EMITTED:
                    self._written(_which(space, event), span, written)
                span.end(ended)

    def _handled(self, stage: str, space: Space, event: Traced, parent: Context) -> Span:
        about: dict[str, str | int] = {
            **self.about,
            **_which(space, event),
            "anabranch.stage": stage,
            "anabranch.outcome": event.outcome,
            "messaging.destination.partition.id": str(event.partition),
            "messaging.kafka.offset": event.offset,
        }
        begun, decided = event.deciding
        span = self.tracer.start_span(f"anabranch.{stage}", parent, SpanKind.CONSUMER, about, start_time=begun)
        span.add_event("decided", timestamp=decided)
        if event.reason is not None:
            span.set_status(StatusCode.ERROR, event.reason.partition("\n")[0])
        return span

    def _written(self, about: Mapping[str, str | int], span: Span, written: Period) -> None:
        begun, ended = written
        self.tracer.start_span(INDEX_WRITE, set_span_in_context(span), attributes=about, start_time=begun).end(ended)


def _publishers(trace: bytes) -> Context | None:
    """Return the context that a record bears, or ``None`` if it is none: such a span would belong to no trace."""
    found = _W3C.extract({"traceparent": trace.decode("ascii", "replace")}, Context())
    return found if get_current_span(found).get_span_context().is_valid else None


def _which(space: Space, event: Traced) -> dict[str, str | int]:
    known = {"anabranch.space": space, "anabranch.event_id": event.event_id, "anabranch.position": event.position}
    return {name: value for name, value in known.items() if value is not None}


@contextmanager
def tracing(stage: str, worker: int, source: str, group: str) -> Iterator[Tracing]:
    """Give what a worker tells its spans to: the collector that ``OTEL_EXPORTER_OTLP_ENDPOINT`` names, else nobody.

    Everything else that OpenTelemetry's own variables set (headers, samplers, names) the SDK reads itself.

    Raises:
        UsageError: if one of them holds what the SDK cannot use.
    """
    provider = _provider() if traces_wanted() else None
    if provider is None:
        yield NoTracing()
        return
    about = {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": source,
        "messaging.consumer.group.name": group,
        "messaging.client.id": f"anabranch-{stage}-{worker}",
    }
    try:
        yield Spans(provider.get_tracer("anabranch"), about)
    finally:
        ending = Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(_LAST_S)


def _provider() -> TracerProvider | None:
    """Return the SDK, this worker's own; one log line says so if it is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - see above
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        msg = "no spans are sent, though OTEL_EXPORTER_OTLP_ENDPOINT names a collector (%s): install anabranch[otel]"
        _log.warning(msg, error, extra={"event": "untraced"})
        return None
    try:
        sending = BatchSpanProcessor(OTLPSpanExporter())
    except ValueError as error:
        msg = f"spans cannot be sent as OpenTelemetry's own variables (OTEL_…) say: {error}"
        raise UsageError(msg) from error
    named = Resource.create({"service.name": "anabranch"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(sending)
    return provider
