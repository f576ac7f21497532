"""The gateway's figures in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from infra.model_figures import ModelFigures
from schemas.answer import Answer
from streams.metrics import TENANTS, ModelCounts

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds in seconds: an accepted turn takes some milliseconds, a recall that waits for a turn ten seconds at most."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts and times since the process began, in a registry of their own."""

    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    accepted: Counter
    refused: Counter
    pending: Gauge
    answers: Counter
    invented: Counter
    consolidated: Gauge
    models: ModelCounts = field(default_factory=ModelCounts)

    def __post_init__(self) -> None:
        """Show what language models are asked by the stages of a home that is served."""
        self.registry.register(ModelFigures(self.models))

    @classmethod
    def fresh(cls) -> Self:
        """Return figures that have counted nothing."""
        to = CollectorRegistry()
        named, of = "anabranch_gateway_", ["route", "method", "status"]
        return cls(
            registry=to,
            requests=Counter(f"{named}requests", "Requests answered.", of, registry=to),
            seconds=Histogram(
                f"{named}request_seconds", "From a request to its answer.", of, buckets=_BUCKETS, registry=to
            ),
            accepted=Counter(f"{named}turns_accepted", "Turns that the log has acknowledged.", registry=to),
            refused=Counter(f"{named}refused", "Requests refused, by the type of problem.", ["reason"], registry=to),
            answers=Counter(f"{named}answers", "Answers, by why there was none.", ["reason"], registry=to),
            invented=Counter(f"{named}citations_refused", "Citations that a model invented.", registry=to),
            consolidated=Gauge(
                "anabranch_consolidation_last_success_timestamp_seconds",
                "When the last consolidation of a tenant began that ended well.",
                ["tenant"],
                registry=to,
            ),
            pending=Gauge(f"{named}pending_events", "Events without outcome; embedded mode only.", registry=to),
        )

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, method, str(status)).inc()
        self.seconds.labels(route, method, str(status)).observe(seconds)

    def told(self, answer: Answer) -> None:
        """Count an answer; ``reason`` is "answered" where there is one."""
        self.answers.labels("answered" if answer.reason is None else answer.reason.value).inc()
        self.invented.inc(answer.used.refused)

    def told_of_nights(self, last: Mapping[str, datetime]) -> None:
        """Show when the last consolidation of each tenant began that ended well.

        Of many tenants those that have waited longest have a series each: these are what an alert is about.
        """
        self.consolidated.clear()
        for tenant, at in sorted(last.items(), key=lambda one: one[1])[:TENANTS]:
            self.consolidated.labels(tenant).set(at.timestamp())

    def page(self) -> bytes:
        """Return them as text."""
        return generate_latest(self.registry)
