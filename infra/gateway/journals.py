"""Journals of a home beside the one that its stages use: SQLite lets each thread have its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from infra.gateway.served import TooManyPending
from schemas.space import Space
from stages.contract import Unavailable
from streams.journal import Journal

T = TypeVar("T")


class JournalThread:
    """A journal in a thread of its own, one call after the other; ``current`` gives the one that lives now."""

    def __init__(self, current: Callable[[], Journal], name: str) -> None:
        self._current = current
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._journal: Journal | None = None

    async def ask(self, call: Callable[[Journal], T]) -> T:
        """Return what a call gives.

        Raises:
            Unavailable: if the file cannot be read or written, as on a full disk.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, call)

    def _run(self, call: Callable[[Journal], T]) -> T:
        current = self._current()
        try:
            return call(self._opened(current))
        except sqlite3.OperationalError as error:
            msg = f"{current.path} cannot be read or written ({error}); see to its disk"
            raise Unavailable(msg) from error

    def _opened(self, current: Journal) -> Journal:
        """Return this thread's own connection to a journal; another generation may have come to live."""
        if self._journal is None or self._journal.path != current.path:
            if self._journal is not None:
                self._journal.close()
            self._journal = Journal(current.path, current.writers, current.log)
        return self._journal

    def close(self) -> None:
        """Finish what was asked, and close the file."""
        if self._journal is not None:
            self._thread.submit(self._journal.close).result()
        self._thread.shutdown()


@dataclass(slots=True)
class _Entry:
    space: Space
    turns: Sequence[bytes]
    done: asyncio.Future[None]


@dataclass
class Appender:
    """Appends what waits together: publishers who come while the disk is busy share its next write.

    ``told`` hears which spaces have more. A space has ``limit`` events without outcome at most.
    """

    journal: JournalThread
    limit: int
    told: Callable[[Iterable[Space]], object]
    _waiting: list[_Entry] = field(default_factory=list)
    _going: asyncio.Task[None] | None = None

    async def append(self, space: Space, turns: Sequence[bytes]) -> None:
        """Append events of a space, all or none; they are on the disk when this returns.

        Raises:
            TooManyPending: if the space has too many.
            Unavailable: if the disk cannot be written.
        """
        loop = asyncio.get_running_loop()
        entry = _Entry(space, turns, loop.create_future())
        self._waiting.append(entry)
        if self._going is None or self._going.done():
            self._going = loop.create_task(self._all())
        await entry.done

    async def _all(self) -> None:
        while self._waiting:
            entries, self._waiting = self._waiting, []
            try:
                full = await self.journal.ask(partial(_written, entries, self.limit))
            except Exception as error:  # noqa: BLE001 - whatever it is, each publisher has to hear of it
                full = dict.fromkeys(range(len(entries)), error)
            taken = {entry.space for number, entry in enumerate(entries) if number not in full}
            if taken:
                self.told(taken)
            for number, entry in enumerate(entries):
                _settle(entry.done, full.get(number))


def _settle(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return  # its publisher is gone; what it published stays published
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


def _written(entries: Sequence[_Entry], limit: int, journal: Journal) -> dict[int, Exception]:
    """Append the entries whose spaces have room for them, by one write; return why the others were refused."""
    pending: dict[Space, int] = {}
    refused: dict[int, Exception] = {}
    for number, entry in enumerate(entries):
        before = pending[entry.space] if entry.space in pending else journal.waiting(entry.space)
        if before and before + len(entry.turns) > limit:
            refused[number] = TooManyPending(entry.space, before, limit)
        else:
            pending[entry.space] = before + len(entry.turns)
    taken = [(entry.space, entry.turns) for number, entry in enumerate(entries) if number not in refused]
    if taken:
        journal.append_all(taken)
    return refused
