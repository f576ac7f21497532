"""What a look at a space's rows says to a run: who is idle, what was decided before, what has come of a decision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from infra.nights.events import DECIDED, DRAIN
from schemas.consolidation import Decision
from schemas.memory import ClosedRow, OutcomeRow, OutcomeState, RecordKind, RecordRow, Row
from stages.consolidate import Live, live
from stages.pausing import pausing
from stages.stored import REVISED, UNDONE

AT_ONCE: Final = 256
"""Rows that are decoded without a pause: some 15 ms."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A space at one moment. ``newest`` is when its newest turn was said, ``since`` the position of the last one."""

    live: tuple[Live, ...]
    records: tuple[RecordRow, ...]
    closed: frozenset[str]
    newest: datetime | None = None
    since: int = -1
    drained: int = -1
    decided: bool = False

    def is_idle(self, before: datetime) -> bool:
        """Tell whether nobody has spoken since ``before``, and items are left that no drain has routed since.

        An item that a drain did not let go would else be asked for every night.
        """
        waits = any(one.working for one in self.live) and self.since > self.drained
        return waits and self.newest is not None and self.newest < before

    def texts_of(self, decisions: Iterable[Decision]) -> dict[str, str]:
        """Return the texts of the records that decisions rest on, by id."""
        named = {one.id for decision in decisions for one in decision.sources}
        return {row.id: row.text for row in self.records if row.id in named}

    def has_come(self, decision: Decision, run: str) -> bool:
        """Tell whether a run's decision was done: its records are there, and what it retires is retired."""
        made = {(row.kind, row.text, row.provenance) for row in self.records if row.run == run}
        wanted = {(one.kind, one.text, one.provenance) for one in decision.records}
        return wanted <= made and all(one.id in self.closed for one in decision.retired)


async def seen(rows: Iterable[Row]) -> Seen:
    """Return what the rows of a space say."""
    every = [row async for row in pausing(rows, AT_ONCE)]
    records = tuple(row for row in every if isinstance(row, RecordRow))
    turns = [row for row in records if row.kind is RecordKind.TURN]
    control = [row for row in every if isinstance(row, OutcomeRow) and row.state is OutcomeState.COMMITTED]
    return Seen(
        live=live(every),
        records=records,
        closed=frozenset(row.id for row in every if isinstance(row, ClosedRow)),
        newest=max((row.at for row in turns), default=None),
        since=max((row.since for row in turns), default=-1),
        drained=max((row.position for row in control if row.event_id.startswith(DRAIN)), default=-1),
        decided=any(row.event_id.startswith(DECIDED) for row in control),
    )


@dataclass(slots=True)
class Run:
    """What memory holds of a run in a space. ``standing`` are those of its records that are open still."""

    run: str
    since: int
    merged: int = 0
    retired: int = 0
    topics: int = 0
    personas: int = 0
    restored: int = 0
    standing: int = 0

    def add(self, row: RecordRow, *, is_open: bool) -> None:
        """Count a record of the run."""
        self.since = min(self.since, row.since)
        self.standing += is_open
        if row.kind is RecordKind.TOPIC:
            self.topics += 1
        elif row.kind is RecordKind.PERSONA:
            self.personas += 1
        elif self.run.startswith(UNDONE):
            self.restored += 1
        else:
            self.merged += 1
            self.retired += len(row.stands_for)


@dataclass(slots=True)
class Runs:
    """The runs of a space, by the records that they left there; a run that only retired or drained left none.

    What a revision brings back is no run.
    """

    found: dict[str, Run] = field(default_factory=dict)

    def add(self, at: Seen) -> list[Run]:
        """Count all records of a space; return the runs, oldest first."""
        for row in at.records:
            if row.run is not None and not row.run.startswith(REVISED):
                known = self.found.setdefault(row.run, Run(row.run, row.since))
                known.add(row, is_open=row.id not in at.closed)
        return sorted(self.found.values(), key=lambda one: (one.since, one.run))
