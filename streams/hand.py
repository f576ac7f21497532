"""Which record a stage has in hand, noted where the next run finds it if the process ends without a word.

An exception is counted where it is raised, a stage that hangs by the watchdog. A process that dies inside a stage (a
fault in native code, memory that runs out) can count nothing itself, and would die at the same text in every run. So
the record in hand stands in a mapped file: a write to memory, which outlives the process though not the machine.

A kill from outside looks the same. It counts only for the record that the processor was at, not for the many that wait
for a model or the disk, and only many at the same record in the same stage make a letter (``deaths.SPARED``), so that
a run that is killed again and again loses nothing as long as it gets anywhere.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from schemas.space import Space
from stages.contract import Unavailable

T = TypeVar("T")

BATCH = -1
"""Offset of what is not one record: a stage prepares for a whole batch. No record has it."""

_PAGE = mmap.PAGESIZE
"""Bytes of the file. The first says whether something is in hand; then two of length, then stage, space and offset."""


@dataclass(frozen=True, slots=True)
class Held:
    """A record that a stage had in hand."""

    stage: str
    space: Space
    offset: int

    def note(self) -> bytes:
        """Return the bytes that stand for it: JSON, since neither a stage's name nor a space needs an escape."""
        return f'["{self.stage}","{self.space}",{self.offset}]'.encode()


@dataclass
class Hand:
    """The hand of one process, open inside a ``with`` block; outside of one nothing is noted."""

    path: Path = Path()
    dropped: Held | None = None
    _page: mmap.mmap | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        """Open the file; ``dropped`` is what a process that died had in hand.

        Raises:
            Unavailable: if the file cannot be written.
        """
        try:
            with self.path.open("ab+") as file:
                missing = _PAGE - os.fstat(file.fileno()).st_size
                file.write(bytes(missing) if missing > 0 else b"")  # a mapped page must have its place on the disk
                file.flush()
                self._page = mmap.mmap(file.fileno(), _PAGE)
        except OSError as error:
            msg = f"{self.path} cannot be written ({error.strerror}); see to its disk, then run again"
            raise Unavailable(msg) from error
        self.dropped = _read(self._page)
        self.put_down()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file with nothing in hand."""
        if self._page is not None:
            self.put_down()
            self._page.close()
            self._page = None

    def take(self, note: bytes) -> None:
        """Note what is in hand from now on."""
        if self._page is not None:
            self._page[1 : 3 + len(note)] = len(note).to_bytes(2, "big") + note
            self._page[0] = 1  # last, so that what is there is whole

    def put_down(self) -> None:
        """Note that nothing is in hand."""
        if self._page is not None:
            self._page[0] = 0

    def fell_at(self, stage: str, space: Space) -> int | None:
        """Return the offset of the record of this lane, or ``BATCH``, that the last process died with, if it did."""
        held = self.dropped
        return held.offset if held is not None and (held.stage, held.space) == (stage, space) else None

    def passed(self, stage: str, space: Space) -> None:
        """Note that the lane is past the batch that the last process died with."""
        if self.fell_at(stage, space) == BATCH:
            self.dropped = None


def _read(page: mmap.mmap) -> Held | None:
    if not page[0]:
        return None
    try:
        stage, space, offset = json.loads(page[3 : 3 + int.from_bytes(page[1:3], "big")])
        return Held(stage, Space(space), offset)
    except ValueError:  # of another make, or broken with the disk: it blames nobody
        return None


@dataclass(frozen=True, slots=True)
class InHand(Generic[T]):
    """Awaits ``work`` with a record in hand: while it runs, not while it waits."""

    hand: Hand
    held: Held
    work: Coroutine[Any, Any, T]

    def __await__(self) -> Generator[Any, Any, T]:
        """Run the work step by step."""
        note, steps = self.held.note(), self.work.__await__()
        step: Callable[[], Any] = partial(next, steps)
        while True:
            self.hand.take(note)
            try:
                waited_for = step()
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                self.hand.put_down()
            try:
                step = partial(steps.send, (yield waited_for))
            except BaseException as error:  # noqa: BLE001 - whatever is thrown in is the work's to handle
                step = partial(steps.throw, error)
