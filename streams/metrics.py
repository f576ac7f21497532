"""What a worker counts, and what the figures are called where Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Name(StrEnum):
    """The name of every figure that a worker shows: a closed set, so that a typing error is a type error.

    Counters are shown with ``_total`` behind their name, as Prometheus wants it.
    """

    HANDLED = "anabranch_events_handled"
    SKIPPED = "anabranch_events_fetched_again"
    GAPS = "anabranch_gaps_repaired"
    HOLES = "anabranch_holes_repaired"
    FOLDED = "anabranch_stale_rows_folded"
    BLOCKED = "anabranch_guarded_writes_blocked"
    REBALANCES = "anabranch_rebalances"
    LETTERS = "anabranch_letters"
    DEGRADED = "anabranch_degraded_records"
    REFUSED = "anabranch_refused_claims"
    STALE = "anabranch_stale_decisions"
    RESTARTS = "anabranch_restarts"
    REOPENED = "anabranch_partitions_reopened"
    LAG = "anabranch_lag_events"
    WAITING = "anabranch_waiting"
    HELD = "anabranch_held_bytes"
    OLDEST = "anabranch_oldest_unprocessed_seconds"
    STATE = "anabranch_state_bytes"
    TOPIC = "anabranch_topic_bytes"
    STOPPED = "anabranch_partitions_stopped"
    ASSIGNED = "anabranch_partitions_assigned"
    BATCH = "anabranch_batch_seconds"
    MODEL_REQUESTS = "anabranch_model_requests"
    MODEL_CALLS = "anabranch_model_calls"
    MODEL_CALL_SECONDS = "anabranch_model_call_seconds"
    MODEL_TOKENS = "anabranch_model_tokens"
    MODEL_PROMPT_BYTES = "anabranch_model_prompt_bytes"


BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds (s) of the buckets of batch times: a batch of one turn takes milliseconds, an import's takes seconds."""


@dataclass(slots=True)
class Times:
    """A histogram of durations in seconds: how many fell into each bucket, the last of them beyond all bounds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Outcome(StrEnum):
    """What became of a request to a language model."""

    ANSWERED = "answered"
    """The first answer was of use."""
    REASKED = "reasked"
    """The second was."""
    CACHED = "cached"
    """An answer that had been kept was: nothing was called."""
    DEGRADED = "degraded"
    """None was: rules stand in."""
    OVER_BUDGET = "over_budget"
    """It was too long to be asked: rules stand in."""
    UNAVAILABLE = "unavailable"
    """Nothing answered: it is asked again. Each try counts."""


@dataclass(slots=True)
class ModelUse:
    """What a stage asked a model for a tenant.

    ``calls`` were answered, in ``seconds`` together; tokens are as the endpoint counted them, ``cached_tokens`` those
    of the prompt that it had ready. Of the prompts' bytes, ``prefix_bytes`` were the part that requests share.
    """

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    calls: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    prefix_bytes: int = 0
    data_bytes: int = 0


OTHERS: Final = "(others)"
"""Stands for all tenants beyond the first ``TENANTS``; no tenant has a name like it."""

TENANTS: Final = 100
"""Tenants with figures of their own: what scrapes them keeps a series for each, for weeks."""


@dataclass(slots=True)
class ModelCounts:
    """What was asked of language models, by stage and tenant."""

    uses: dict[tuple[str, str], ModelUse] = field(default_factory=dict)
    _tenants: set[str] = field(default_factory=set)

    def of(self, stage: str, tenant: str) -> ModelUse:
        """Return what counts for a tenant."""
        if len(self._tenants) < TENANTS:
            self._tenants.add(tenant)
        return self.uses.setdefault((stage, tenant if tenant in self._tenants else OTHERS), ModelUse())

    def total(self) -> ModelUse:
        """Return the sum of all."""
        whole = ModelUse()
        for use in list(self.uses.values()):
            whole.outcomes += use.outcomes
            for name in ("calls", "seconds", "prompt_tokens", "cached_tokens", "answer_tokens"):
                setattr(whole, name, getattr(whole, name) + getattr(use, name))
            whole.prefix_bytes += use.prefix_bytes
            whole.data_bytes += use.data_bytes
        return whole


@dataclass(slots=True)
class Metrics:
    """Counters of one worker since its start.

    ``handled``: input records finished; ``skipped``: fetched again by Faust though taken already; ``gaps``: passed over
    by Faust and fetched again; ``holes``: positions missing and read again; ``folded``: state rows appended again;
    ``blocked``: effects that did not happen because the partition was another worker's by then; ``rebalances``;
    ``letters`` and ``degraded`` records written (those written again too); ``refused``: what language models said that
    is not so; ``stale``: decisions of a consolidation that memory no longer allowed; ``reopened``: stopped partitions
    tried again; ``batches``: how long batches of a space took; ``models``: what was asked of language models.
    """

    handled: int = 0
    skipped: int = 0
    gaps: int = 0
    holes: int = 0
    folded: int = 0
    blocked: int = 0
    rebalances: int = 0
    letters: int = 0
    degraded: int = 0
    refused: int = 0
    stale: int = 0
    reopened: int = 0
    batches: Times = field(default_factory=Times)
    models: ModelCounts = field(default_factory=ModelCounts)
