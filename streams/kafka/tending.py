"""What has to be looked after while partitions run: those that stopped, and those whose last records were lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from streams.kafka.partition import Partition
from streams.kafka.shared import Shared

LONGEST: Final = 600.0
"""Seconds between two tries of a partition that stops again and again: each writes a cut's outputs once more."""
_QUIET: Final = 5.0
"""Seconds after which what Faust should have brought is taken for lost; it brings what is there in milliseconds."""


@dataclass(slots=True)
class _Retry:
    reached: int
    due: float
    pause: float


@dataclass
class Tending:
    """Says which stopped partitions are due to be tried again, and lets others catch up. Times are the loop's (s)."""

    shared: Shared
    _retries: dict[int, _Retry] = field(default_factory=dict)
    _still: dict[int, tuple[int, float]] = field(default_factory=dict)

    def is_due(self, partition: Partition, now: float) -> bool:
        """Whether a partition that stopped should be tried again now; the pauses double while it gets nowhere."""
        known = self._retries.get(partition.number)
        if known is None or partition.reached > known.reached:
            pause = self.shared.reopen
            self._retries[partition.number] = _Retry(partition.reached, now + pause, pause)
            return False
        if now < known.due:
            return False
        known.pause = min(LONGEST, 2 * known.pause)
        known.due = now + known.pause
        return True

    def forget(self, number: int) -> None:
        """Forget a partition that is ours no more."""
        self._retries.pop(number, None)
        self._still.pop(number, None)

    def catch_up(self, partition: Partition, now: float) -> None:
        """Let a partition read from the log what Faust owes it, if nothing has come for a while."""
        expected, since = self._still.get(partition.number, (-1, now))
        if expected != partition.expected:
            self._still[partition.number] = (partition.expected, now)
            return
        end, room = self.shared.ends(partition.number), self.shared.room
        if end is not None and now - since > _QUIET and room.used < room.limit:
            partition.catch_up(end)
