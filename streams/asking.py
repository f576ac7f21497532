"""Asking a stage what an event means: waiting for what does not answer, and counting crashes."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from schemas.header import Header
from schemas.space import Space
from stages.contract import Duplicate, Emit, Reject, Stage, StageState, Unavailable
from streams.effects import Inbound
from streams.lane import Lane
from streams.patience import Patience
from streams.stopped import StageCrashed

CRASHES = 3
"""A record that crashed a stage this often becomes a letter, so that one odd text never stops a stage for all."""

In = TypeVar("In")
Out = TypeVar("Out")
State = TypeVar("State", bound=StageState)


class Crashes(Protocol):
    """Counts crashes of a stage at a record, from one start of the worker to the next."""

    def count(self, stage: str, space: Space, offset: int) -> int:
        """Return how many there were at this record."""
        ...

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        """Note a crash durably and return how many that makes."""
        ...


@dataclass(frozen=True, slots=True)
class Asking(Generic[In, Out, State]):
    """Asks one stage."""

    stage: Stage[In, Out, State]
    patience: Patience
    crashes: Crashes

    async def ask(
        self,
        lane: Lane[State],
        record: Inbound,
        header: Header,
        message: object,
        before_waiting: Callable[[], Awaitable[None]],
    ) -> Emit[Out, State] | Duplicate | Reject:
        """Return the stage's outcome; a record that crashed it too often is refused.

        Raises:
            Unavailable: if something did not answer for as long as patience lasts.
            StageCrashed: if the stage has a bug that this input shows.
        """
        hung = self.crashes.count(self.stage.name, lane.space, record.offset)
        if hung >= CRASHES:  # the watchdog ended the process each time, so nobody was left to make the letter
            return Reject(f"crashed: {self.stage.name} failed {hung} times at this event", input_fault=False)
        try:
            return await self.patience.ask(
                f"{self.stage.name} at {header.event_id!r} of {lane.space!r}",
                lambda: self.stage.decide(message, lane.state),  # type: ignore[arg-type]  # the source gives In
                before_waiting,
            )
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - any other exception is a bug, and this is where bugs are counted
            return self._crashed(lane, record, header, error)

    def _crashed(self, lane: Lane[State], record: Inbound, header: Header, error: Exception) -> Reject:
        report = "".join(traceback.format_exception(error))
        times = self.crashes.add(self.stage.name, lane.space, record.offset, report)
        if times >= CRASHES:
            return Reject(f"crashed: {self.stage.name} failed {times} times\n{report}", input_fault=False)
        msg = (
            f"{self.stage.name} crashed at {header.event_id!r} (position {header.position} of {lane.space!r}), time "
            f"{times} of {CRASHES}: {error!r}; run again to try it once more, the third crash makes it a letter"
        )
        raise StageCrashed(msg) from error
