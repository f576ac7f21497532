"""From durable cuts to progress that a person can follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from infra.memory_api import Progress
from streams.effects import Cut


@dataclass
class Tracker:
    """Counts how many of the events that were pending at the start have ended, and the lag of each stage.

    ``lags`` are events before each stage at the start, in the order of the flow; an event is before one stage only.
    """

    lags: dict[str, int]
    report: Callable[[Progress], None]
    done: int = 0
    total: int = field(init=False)

    def __post_init__(self) -> None:
        self.total = sum(self.lags.values())

    def cut(self, cut: Cut) -> None:
        """Count a cut: what it put out is before the next stage now, the rest has ended."""
        stages = list(self.lags)
        at = stages.index(cut.stage)
        passed_on = len(cut.outputs) if at + 1 < len(stages) else 0
        self.lags[cut.stage] -= cut.events
        if passed_on:
            self.lags[stages[at + 1]] += passed_on
        self.done += cut.events - passed_on
        self.report(Progress(self.done, self.total, dict(self.lags)))
