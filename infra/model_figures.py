"""What language models were asked, in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from streams.metrics import ModelCounts, ModelUse, Name

_TOKENS: Final = {"prompt": "prompt_tokens", "cached": "cached_tokens", "answer": "answer_tokens"}
_BYTES: Final = {"prefix": "prefix_bytes", "data": "data_bytes"}


def model_families(counts: ModelCounts, who: Mapping[str, str]) -> Iterator[Metric]:
    """Give each family, by stage, tenant and the labels in ``who``; those of a stage are shown when it asked."""
    uses = [((*who.values(), stage, tenant), use) for (stage, tenant), use in list(counts.uses.items())]
    names = [*who, "stage", "tenant"]
    requests = _family(Name.MODEL_REQUESTS, "Requests to a language model, by what became of them.", names, "outcome")
    calls = _family(Name.MODEL_CALLS, "Calls of a language model that were answered.", names)
    seconds = _family(Name.MODEL_CALL_SECONDS, "How long those calls took together.", names)
    for labels, use in uses:
        for outcome, count in list(use.outcomes.items()):
            requests.add_metric([*labels, outcome.value], count)
        calls.add_metric(labels, use.calls)
        seconds.add_metric(labels, use.seconds)
    yield from (requests, calls, seconds)
    yield _split(Name.MODEL_TOKENS, "Tokens of those calls; cached ones are among the prompt's.", names, _TOKENS, uses)
    yield _split(Name.MODEL_PROMPT_BYTES, "Bytes of their prompts: shared prefix and data.", names, _BYTES, uses)


def _family(name: Name, told: str, names: Sequence[str], *more: str) -> CounterMetricFamily:
    return CounterMetricFamily(name, told, labels=[*names, *more])


def _split(
    name: Name,
    told: str,
    names: Sequence[str],
    fields: Mapping[str, str],
    uses: Sequence[tuple[tuple[str, ...], ModelUse]],
) -> Metric:
    family = _family(name, told, names, "part")
    for labels, use in uses:
        for part, field in fields.items():
            family.add_metric([*labels, part], getattr(use, field))
    return family


@dataclass(frozen=True, slots=True, eq=False)  # a registry keeps collectors by their identity
class ModelFigures(Collector):
    """Collects them afresh at each question."""

    counts: ModelCounts

    def collect(self) -> Iterator[Metric]:
        """Give each family."""
        yield from model_families(self.counts, {})
