"""What a worker counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Metrics:
    """Counters of one worker since its start.

    ``handled``: input records finished; ``skipped``: fetched again by Faust though taken already; ``gaps``: passed over
    by Faust and fetched again; ``holes``: positions missing and read again; ``folded``: state rows appended again;
    ``blocked``: effects that did not happen because the partition was another worker's by then; ``rebalances``.
    """

    handled: int = 0
    skipped: int = 0
    gaps: int = 0
    holes: int = 0
    folded: int = 0
    blocked: int = 0
    rebalances: int = 0
