"""The figures that processes really show, and what a PromQL expression asks of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from infra.workers.figures import Figures
from infra.workers.sight import PartitionSight, Sight
from streams.metrics import Metrics, Outcome

_ONE = PartitionSight(0, 0, 0, 0, 1, 1.0, ready=True, stopped=None, state_bytes=1, loaded=1)
_SEEN = Sight((_ONE,), handled=1, held_bytes=1, admitting=0, unavailable=0, reasons=(), paused=False)

TARGET = frozenset({"namespace", "pod", "instance", "job"})
"""Labels that Prometheus adds to what it scrapes."""


@cache
def shown() -> Mapping[str, frozenset[str]]:
    """Return the name of every series that a worker or (where it is there) the gateway shows, with its labels."""
    metrics = Metrics()
    metrics.models.of("route", "acme").outcomes[Outcome.ANSWERED] += 1
    pages = [Figures("route", 0, metrics, lambda: _SEEN, {"SIGKILL": 1}, {"memory": 1}).page().decode()]
    if find_spec("infra.gateway"):
        gateway: Any = import_module("infra.gateway.figures").Figures.fresh()
        gateway.answered("/v1/spaces/{tenant}/{space}/turns", "POST", 202, 0.1)
        gateway.refused.labels("limit").inc()
        gateway.answers.labels("answered").inc()
        gateway.consolidated.labels("acme").set(1)
        pages.append(gateway.page().decode())
    series: dict[str, frozenset[str]] = {}
    for page in pages:
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                series[sample.name] = series.get(sample.name, frozenset()) | frozenset(sample.labels)
    return series


def asked(expression: str) -> Mapping[str, frozenset[str]]:
    """Return each of our series in an expression, with the labels that the expression names."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", bare))
    for listed in re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", bare):
        labels |= set(re.split(r"\s*,\s*", listed.strip()))
    return dict.fromkeys(re.findall(r"\banabranch_\w+", bare), frozenset(labels))
