"""One request of a space in flight: who publishes to it meanwhile waits in its queue, first come, first served."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

Place = Future[None]
"""A place in a queue, done once nobody is before it. One kind for threads and tasks, since they may share a queue."""


@dataclass
class Queues:
    """Who publishes to which space, and who waits there. Safe between threads; keeps no space that all left."""

    _queues: dict[str, deque[Place]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def place(self, space: str) -> Iterator[Place]:
        """Give the last place in the queue of a space, to be waited for; the next one's turn comes at the end."""
        place = self._join(space)
        try:
            yield place
        finally:
            self._leave(space, place)

    def __len__(self) -> int:
        """Return how many spaces are being published to."""
        return len(self._queues)

    def _join(self, space: str) -> Place:
        place = Place()
        with self._lock:
            queue = self._queues.setdefault(space, deque())
            queue.append(place)
            if len(queue) == 1:
                _admit(place)
        return place

    def _leave(self, space: str, place: Place) -> None:
        with self._lock:
            queue = self._queues[space]
            was_first = queue[0] is place  # not so where it was given up while it waited
            queue.remove(place)
            if not queue:
                del self._queues[space]
            elif was_first:
                _admit(queue[0])


def _admit(place: Place) -> None:
    """Tell that it is this one's turn. One that is cancelled does not hear it: it is about to leave."""
    if place.set_running_or_notify_cancel():
        place.set_result(None)
