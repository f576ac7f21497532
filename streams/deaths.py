"""Deaths of the process inside a stage, noted so that a record which kills it each time becomes a letter."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from streams.asking import CRASHES
from streams.crashes import CrashBook
from streams.hand import BATCH, Hand
from streams.watchdog import Stuck

SPARED = 7
"""Deaths of the process at one record that blame nobody: a ``kill -9`` looks the same, and must never make a letter.

A process that is killed again and again while it starts works at the same record each time; a text that kills it does
so for ever, and is a letter after three deaths more.
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Deaths:
    """Notes in ``path`` (an SQLite file) what the process had in hand when it ended, or where it hangs."""

    hand: Hand
    path: Path

    def count(self) -> None:
        """Note the record that the last process had in hand when it ended without a word.

        After ``SPARED`` deaths at it each one counts as a crash of its stage.
        """
        held = self.hand.dropped
        if held is None or held.offset == BATCH:
            return
        crashes = CrashBook.open(self.path)
        deaths = crashes.add(f"{held.stage} (deaths)", held.space, held.offset, "the process ended inside")
        where = f"the event at offset {held.offset} of {held.space!r}"
        _log.warning("the last run ended inside %s at %s, time %d of %d", held.stage, where, deaths, SPARED + CRASHES)
        if deaths > SPARED:
            crashes.add(held.stage, held.space, held.offset, f"the process ended inside the stage {deaths} times")

    def hung(self, stuck: Stuck) -> None:
        """Note, from the watchdog's thread and by a connection of its own, where a stage hangs.

        What hangs in a whole batch stays in hand: the next run tries its records alone.
        """
        if stuck.offset != BATCH:
            CrashBook.open(self.path).add(stuck.stage, stuck.space, stuck.offset, stuck.report)
            self.hand.put_down()  # else the next run would count it again
