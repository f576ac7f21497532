"""What waits for the encoder: calls, their texts once each, and which rows go next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from infra.models.encoder import Prepared, rows_of

_PATIENCE: Final = 32
"""Calls that a part-filled bucket lets pass while full ones keep coming: 4 s or less, then it goes."""


class Call:
    """One caller's list of texts. Its future is done when every text has a vector, or at the first error.

    The future can't be cancelled: other callers may wait for the same texts, and the work is cheap. Vectors may come
    from the caller's thread (the cache) and the worker's.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._vectors: dict[str, bytes] = {}
        self._missing = set(texts)
        self._lock = threading.Lock()
        self.future: Future[list[bytes]] = Future()
        self.future.set_running_or_notify_cancel()

    def distinct(self) -> Iterable[str]:
        """Return the texts of the call, each once, in order."""
        return dict.fromkeys(self._texts)

    def give(self, text: str, vector: bytes) -> None:
        """Take the vector of a text."""
        with self._lock:
            self._vectors[text] = vector
            self._missing.discard(text)

    def settle(self, error: Exception | None = None) -> None:
        """Hand an error, or all vectors if none is missing, to the caller; once."""
        with self._lock:
            if self.future.done():
                return
            if error is not None:
                self.future.set_exception(error)
            elif not self._missing:
                self.future.set_result([self._vectors[text] for text in self._texts])


@dataclass(slots=True)
class Job:
    """A text in flight and the calls that wait for it."""

    text: str
    calls: list[Call] = field(default_factory=list)
    prepared: Prepared | None = None

    def give(self, vector: bytes) -> None:
        """Hand the vector to every call that waits."""
        for call in self.calls:
            call.give(self.text, vector)
            call.settle()

    def fail(self, error: Exception) -> None:
        """Fail every call that waits."""
        for call in self.calls:
            call.settle(error)


@dataclass(slots=True)
class _Bucket:
    since: int  # the count of calls when it began to wait
    jobs: deque[Job] = field(default_factory=deque)


class Buckets:
    """Tokenized texts by padded length, longest waiting first. Full ones go before part-filled ones."""

    def __init__(self) -> None:
        self._buckets: dict[int, _Bucket] = {}
        self._calls = 0

    def __len__(self) -> int:
        return len(self._buckets)

    def add(self, length: int, job: Job) -> None:
        """Put a text where it belongs."""
        self._buckets.setdefault(length, _Bucket(self._calls)).jobs.append(job)

    def take_urgent(self) -> list[Job]:
        """Return the rows of a full bucket, or of one that has waited too long; else none."""
        for length, bucket in self._buckets.items():
            if len(bucket.jobs) >= rows_of(length) or self._calls - bucket.since > _PATIENCE:
                return self._take(length)
        return []

    def take_any(self) -> list[Job]:
        """Return the rows of the bucket that has waited longest; none if all are empty."""
        return self._take(next(iter(self._buckets))) if self._buckets else []

    def _take(self, length: int) -> list[Job]:
        """Take the rows of one call; what is left of the bucket queues behind the others."""
        self._calls += 1
        bucket = self._buckets.pop(length)
        taken = [bucket.jobs.popleft() for _ in range(min(rows_of(length), len(bucket.jobs)))]
        if bucket.jobs:
            self._buckets[length] = _Bucket(self._calls, bucket.jobs)
        return taken
