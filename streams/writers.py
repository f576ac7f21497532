"""Whose turn it is to write where threads of one process share a file."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Writers:
    """A lock that goes to who has waited longest.

    SQLite lets who finds its file locked sleep and look again, and a thread that writes all the time hardly ever lets
    it find a gap: beside the stages a publisher waited for seconds, and was refused after five. A lock of Python's own
    would not do either: who lets go of it and takes it at once again has it before the other is awake.
    """

    _mutex: threading.Lock = field(default_factory=threading.Lock)
    _waiting: deque[threading.Lock] = field(default_factory=deque)
    _is_held: bool = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Write inside the block, alone."""
        self._take()
        try:
            yield
        finally:
            self._pass_on()

    def _take(self) -> None:
        with self._mutex:
            if not self._is_held:
                self._is_held = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # until who writes now, or who waited before, passes it on

    def _pass_on(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False
