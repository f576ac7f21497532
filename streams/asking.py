"""Asking a stage what an event means: waiting for what does not answer, and counting crashes."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from schemas.header import Header, Skipped
from schemas.space import Space
from stages.contract import Duplicate, Emit, Reject, Stage, StageState, Unavailable
from streams.effects import Inbound
from streams.hand import Hand, Held, InHand
from streams.lane import Lane
from streams.patience import Patience
from streams.stopped import StageCrashed, Stopped

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

    def report(self, stage: str, space: Space, offset: int) -> str:
        """Return what the last crash at this record said."""
        ...


@dataclass(frozen=True, slots=True)
class Asking(Generic[In, Out, State]):
    """Asks one stage."""

    stage: Stage[In, Out, State]
    patience: Patience
    crashes: Crashes
    hand: Hand

    async def ask(
        self,
        lane: Lane[State],
        record: Inbound,
        header: Header,
        message: object,
        before_waiting: Callable[[], Awaitable[None]],
    ) -> Emit[Out, State] | Duplicate | Reject:
        """Return the stage's outcome; a record that crashed it too often is refused.

        A marker is always asked about: its event is a letter already, so a crash there stops the run each time.

        Raises:
            Unavailable: if something did not answer for as long as patience lasts.
            StageCrashed: if the stage has a bug that this input shows.
            Stopped: if what the stage asked may not go on; that is no fault of the input.
        """
        died = self.crashes.count(self.stage.name, lane.space, record.offset)
        if died >= CRASHES and not isinstance(message, Skipped):  # the process ended each time, without a letter
            return self._given_up(died, self.crashes.report(self.stage.name, lane.space, record.offset))
        held = Held(self.stage.name, lane.space, record.offset)
        try:
            return await self.patience.ask(
                f"{self.stage.name} at {header.event_id!r} of {lane.space!r}",
                lambda: self._decided(held, message, lane),
                before_waiting,
            )
        except (Unavailable, Stopped):
            raise
        except Exception as error:  # noqa: BLE001 - any other exception is a bug, and this is where bugs are counted
            return self._crashed(lane, record, header, error, is_marker=isinstance(message, Skipped))

    async def _decided(self, held: Held, message: object, lane: Lane[State]) -> Emit[Out, State] | Duplicate | Reject:
        return await InHand(self.hand, held, self.stage.decide(message, lane.state))  # type: ignore[arg-type]  # the source gives In

    def _crashed(
        self, lane: Lane[State], record: Inbound, header: Header, error: Exception, *, is_marker: bool
    ) -> Reject:
        report = "".join(traceback.format_exception(error))
        times = self.crashes.add(self.stage.name, lane.space, record.offset, report)
        if times >= CRASHES and not is_marker:
            return self._given_up(times, report)
        way_out = (
            "the event is a letter already, so the stage has to be mended"
            if is_marker
            else f"time {times} of {CRASHES}; run again to try it once more, the third crash makes it a letter"
        )
        where = f"{header.event_id!r} (position {header.position} of {lane.space!r})"
        msg = f"{self.stage.name} crashed at {where}: {error!r}; {way_out}"
        raise StageCrashed(msg) from error

    def _given_up(self, times: int, report: str) -> Reject:
        """Refuse a record, in the same words whether or not the process lived on from the last crash to here."""
        return Reject(f"crashed: {self.stage.name} failed {times} times\n{report}", input_fault=False)
