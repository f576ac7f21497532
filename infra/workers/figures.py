"""A worker's figures in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from infra.model_figures import model_families
from infra.workers.sight import Sight
from streams.metrics import BOUNDS, Metrics, Name, Times

_COUNTED: Final[Mapping[Name, tuple[str, str]]] = {
    Name.HANDLED: ("handled", "Input events finished."),
    Name.SKIPPED: ("skipped", "Events that Faust fetched again though they were taken already."),
    Name.GAPS: ("gaps", "Times that Faust passed over events, which were read from the log."),
    Name.HOLES: ("holes", "Times that positions were missing and read again from the input."),
    Name.FOLDED: ("folded", "State rows appended again because an older one came last."),
    Name.BLOCKED: ("blocked", "Records and writes left to the partition's new owner."),
    Name.REBALANCES: ("rebalances", "Times that the group took partitions away."),
    Name.LETTERS: ("letters", "Letters written; one that is written again counts again."),
    Name.DEGRADED: ("degraded", "Records of memory made by rules because a model's answer was no use."),
    Name.REFUSED: ("refused", "Quotes, ids and rulings of language models that did not hold and were dropped."),
    Name.STALE: ("stale", "Decisions of a consolidation that memory no longer allowed; the next run takes them up."),
    Name.REOPENED: ("reopened", "Times that a stopped partition was tried again."),
}


@dataclass(frozen=True, slots=True, eq=False)  # a registry keeps collectors by their identity
class Figures(Collector):
    """Collects a worker's figures afresh at each question.

    ``restarts`` are those of this worker, by cause; ``sizes`` are bytes of topics, which the last stage knows.
    """

    stage: str
    number: int
    metrics: Metrics
    look: Callable[[], Sight]
    restarts: Mapping[str, int]
    sizes: Mapping[str, int]

    def page(self) -> bytes:
        """Return them as text, of a registry of their own."""
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Give each family."""
        seen = self.look()
        yield from self._counters()
        yield from self._gauges(seen)
        yield from self._by_partition(seen)
        yield self._by_topic()
        yield self._histogram(self.metrics.batches)
        yield from model_families(self.metrics.models, {"worker": str(self.number)})

    @property
    def _who(self) -> tuple[list[str], list[str]]:
        return ["stage", "worker"], [self.stage, str(self.number)]

    def _counters(self) -> Iterator[Metric]:
        names, values = self._who
        for name, (field, told) in _COUNTED.items():
            family = CounterMetricFamily(name, told, labels=names)
            family.add_metric(values, getattr(self.metrics, field))
            yield family
        restarts = CounterMetricFamily(
            Name.RESTARTS, "Starts after an end that nobody asked for.", labels=[*names, "cause"]
        )
        for cause, times in self.restarts.items():
            restarts.add_metric([*values, cause], times)
        yield restarts

    def _gauges(self, seen: Sight) -> Iterator[Metric]:
        names, values = self._who
        waiting = GaugeMetricFamily(Name.WAITING, "What is waited for, and by how many.", labels=[*names, "for"])
        open_events = sum(one.waiting for one in seen.partitions)
        for what, count in (
            ("memory", seen.admitting),
            ("answer", seen.unavailable),
            ("operator", int(seen.paused)),
            ("turn", open_events),
        ):
            waiting.add_metric([*values, what], count)
        yield waiting
        plain = {
            Name.ASSIGNED: ("Partitions that the group gave.", len(seen.partitions)),
            Name.STOPPED: ("Partitions that stopped.", sum(one.stopped is not None for one in seen.partitions)),
            Name.HELD: ("Bytes of waiting events in memory.", seen.held_bytes),
        }
        for name, (told, value) in plain.items():
            family = GaugeMetricFamily(name, told, labels=names)
            family.add_metric(values, value)
            yield family

    def _by_partition(self, seen: Sight) -> Iterator[Metric]:
        names, values = self._who
        families = {
            Name.LAG: ("Events of the input that are not finished.", "lag"),
            Name.OLDEST: ("Age of the oldest event that is not finished.", "oldest_s"),
            Name.STATE: ("Bytes of the states on the local disk.", "state_bytes"),
        }
        for name, (told, field) in families.items():
            family = GaugeMetricFamily(name, told, labels=[*names, "partition"])
            for one in seen.partitions:
                if (value := getattr(one, field)) is not None:
                    family.add_metric([*values, str(one.partition)], value)
            yield family

    def _by_topic(self) -> Metric:
        names, values = self._who
        family = GaugeMetricFamily(Name.TOPIC, "Bytes of a topic on disk, copies left out.", labels=[*names, "topic"])
        for topic, size in self.sizes.items():
            family.add_metric([*values, topic], size)
        return family

    def _histogram(self, times: Times) -> Metric:
        names, values = self._who
        family = HistogramMetricFamily(Name.BATCH, "How long a batch of a space took.", labels=names)
        buckets, count = [], 0
        for bound, fell in zip((*map(str, BOUNDS), "+Inf"), times.counts, strict=True):
            count += fell
            buckets.append((bound, count))
        family.add_metric(values, buckets, times.total)
        return family
