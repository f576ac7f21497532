"""Input that an operator has given up."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.space import Space
from streams.asking import CRASHES, Crashes
from streams.kafka.states import States


@dataclass
class Quarantining:
    """Counts as crashed too often what an operator has given up; else asks ``crashes``."""

    crashes: Crashes
    states: States

    def count(self, stage: str, space: Space, offset: int) -> int:
        """Return how often the stage crashed at a record."""
        given_up = offset in self.states.quarantined
        return CRASHES if given_up else self.crashes.count(stage, space, offset)

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        """Note a crash."""
        return self.crashes.add(stage, space, offset, report)

    def report(self, stage: str, space: Space, offset: int) -> str:
        """Return what the last crash said."""
        given_up = offset in self.states.quarantined
        return "quarantined by an operator" if given_up else self.crashes.report(stage, space, offset)
