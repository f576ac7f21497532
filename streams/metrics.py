"""What a worker counts, and what the figures are called where Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
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
    RESTARTS = "anabranch_restarts"
    REOPENED = "anabranch_partitions_reopened"
    LAG = "anabranch_lag_events"
    WAITING = "anabranch_waiting"
    HELD = "anabranch_held_bytes"
    OLDEST = "anabranch_oldest_unprocessed_seconds"
    STATE = "anabranch_state_bytes"
    STOPPED = "anabranch_partitions_stopped"
    ASSIGNED = "anabranch_partitions_assigned"
    BATCH = "anabranch_batch_seconds"


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


@dataclass(slots=True)
class Metrics:
    """Counters of one worker since its start.

    ``handled``: input records finished; ``skipped``: fetched again by Faust though taken already; ``gaps``: passed over
    by Faust and fetched again; ``holes``: positions missing and read again; ``folded``: state rows appended again;
    ``blocked``: effects that did not happen because the partition was another worker's by then; ``rebalances``;
    ``letters`` and ``degraded`` records written (those written again too); ``reopened``: stopped partitions tried
    again; ``batches``: how long batches of a space took.
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
    reopened: int = 0
    batches: Times = field(default_factory=Times)
