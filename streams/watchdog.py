"""Ends a process whose stage is caught in one record, and counts that as a crash of the stage there.

A stage runs on the event loop, so one that never returns stops everything. The watchdog is a thread that looks whether
the loop still turns; after a minute without a turn it reads from the loop's stack which record is being decided, notes
the crash where the next run finds it, and ends the process: the third time the record becomes a letter.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from schemas.space import Space
from streams.hand import BATCH, InHand

LIMIT = 60
"""Seconds of a stage's own time in one record; the slowest text that was tried took 6."""

_TURN = 1.0
"""Seconds between looks. Looks are counted, not read off a clock: a process that was suspended is not hung."""

HUNG = 70
"""Exit status of a process that was ended so (EX_SOFTWARE)."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """The record (or ``BATCH``) from which a stage does not come back, and the stack that shows where."""

    stage: str
    space: Space
    offset: int
    report: str


class Watchdog:
    """Watches the running event loop inside a ``with`` block; ``note`` is called from its thread, then the end."""

    def __init__(self, note: Callable[[Stuck], None], limit: int = LIMIT, turn: float = _TURN) -> None:
        self._note, self._limit, self._turn = note, limit, turn
        self._turns = 0
        self._over = threading.Event()

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._beat()
        threading.Thread(target=self._watch, name="anabranch-watchdog", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _beat(self) -> None:
        self._turns += 1
        if not self._over.is_set():
            self._loop.call_later(self._turn, self._beat)

    def _watch(self) -> None:
        seen, missed = self._turns, 0
        while not self._over.wait(self._turn):
            missed = missed + 1 if self._turns == seen else 0
            seen = self._turns
            if missed * self._turn >= self._limit:
                self._end()

    def _end(self) -> None:
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 - the only way to see another thread's stack
        stuck = decided(frame)
        if stuck is None:  # the loop is busy with something else, such as a slow disk
            return
        self._note(stuck)
        what = "preparing a batch" if stuck.offset == BATCH else f"the event at offset {stuck.offset}"
        sys.stderr.write(
            f"anabranch: {stuck.stage} did not come back from {what} of {stuck.space!r} "
            f"within {self._limit} s; run again to try it once more, the third time makes it a letter\n"
        )
        sys.stderr.flush()
        os._exit(HUNG)


def decided(frame: FrameType | None) -> Stuck | None:
    """Return the record that a stage has in hand on the stack of ``frame``, or ``None`` if there is none."""
    report = "".join(traceback.format_stack(frame)) if frame else ""
    while frame is not None:
        if frame.f_code is InHand.__await__.__code__:
            held = frame.f_locals["self"].held
            return Stuck(held.stage, held.space, held.offset, report)
        frame = frame.f_back
    return None
