"""The threads that share an encoder: they merge concurrent calls, queries first."""

from __future__ import annotations

import atexit
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, Generic, TypeVar

from infra.models.encoder import Encoding
from infra.models.queueing import Buckets, Call, Job
from infra.models.vector_cache import VectorCache
from stages.contract import Unavailable

_QUERY_CACHE: Final = 1024 * 1024
_TOKENIZE: Final = 64
"""Texts tokenized at a time, about 10 ms, so that a query does not wait long behind them."""
_LEAVE: Final = 20
"""Seconds to wait for a running call, or for a load that is under way, when closing."""
_SWITCH_S: Final = 0.00005
"""Seconds until a busy thread hands the interpreter over; Python's own choice is 0.005.

A call of the encoder asks for the interpreter some hundred times, so beside one busy thread it takes five times as long
with Python's choice. With this one the whole chain is 6 to 9 % faster than with 0.0002, and the busy thread no slower.
"""

Step = Callable[[Encoding], None]
E = TypeVar("E", bound=Encoding)


class EncoderPool(Generic[E]):
    """Takes texts from any thread and gives futures.

    A thread of its own loads the encoder at the first text; then as many threads as it takes ``calls`` share it. So the
    interpreter is free while they compute, and no core waits for another inside a call.
    """

    def __init__(self, load: Callable[[], E], cache_bytes: int) -> None:
        self._load = load
        self._encoder: E | None = None
        self._cache, self._query_cache = VectorCache(cache_bytes), VectorCache(_QUERY_CACHE)
        self._changed = threading.Condition()
        self._arrived: deque[Job] = deque()
        self._queries: deque[tuple[str, Future[bytes]]] = deque()
        self._flying: dict[str, Job] = {}
        self._buckets = Buckets()
        self._tokenizing = False
        self._threads: list[threading.Thread] = []
        self._closed = False
        self.asked = 0
        self.encoded = 0

    def submit(self, texts: Sequence[str]) -> Future[list[bytes]]:
        """Queue the texts that are neither cached nor in flight."""
        call = Call(texts)
        with self._changed:
            self._start()
            self.asked += len(texts)
            for text in call.distinct():
                cached = self._cache.get(text)
                if cached is not None:
                    call.give(text, cached)
                else:
                    self._join(text, call)
            if self._arrived:
                self._changed.notify_all()
        call.settle()
        return call.future

    def submit_query(self, text: str) -> Future[bytes]:
        """Queue one text before everything else."""
        future: Future[bytes] = Future()
        future.set_running_or_notify_cancel()
        with self._changed:
            self._start()
            cached = self._query_cache.get(text)
            if cached is None:
                self._queries.append((text, future))
                self._changed.notify_all()
        if cached is not None:
            future.set_result(cached)
        return future

    def close(self) -> None:
        """Stop after the running calls; who still waits gets ``Unavailable``."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in list(self._threads):
            thread.join(_LEAVE)
        atexit.unregister(self.close)
        self._fail_all(Unavailable("the encoder was closed"))

    def loaded(self) -> E:
        """Return the encoder, loaded if it is not yet; for who is alone with it."""
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    def _start(self) -> None:
        if self._closed:
            msg = "the encoder was closed"
            raise Unavailable(msg)
        if not self._threads:
            sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
            self._begin(self._lead)
            atexit.register(self.close)  # a thread that the interpreter cuts off inside torch may crash it

    def _begin(self, work: Callable[[], None]) -> None:
        self._threads.append(threading.Thread(target=work, name="anabranch-encoder", daemon=True))
        self._threads[-1].start()

    def _join(self, text: str, call: Call) -> None:
        job = self._flying.get(text)
        if job is None:
            job = self._flying[text] = Job(text)
            self._arrived.append(job)
        job.calls.append(call)

    def _lead(self) -> None:
        """Load the encoder, at the next text again if that fails; then let others work beside this thread."""
        while self._awaited():
            try:
                encoder = self.loaded()
            except Exception as error:  # noqa: BLE001 - whatever it is, the callers have to hear of it
                self._fail_all(error)
                continue
            with self._changed:
                for _ in range(0 if self._closed else encoder.calls - 1):
                    self._begin(partial(self._work, encoder))
            self._work(encoder)

    def _awaited(self) -> bool:
        """Sleep until there is something to do; tell whether to go on."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._queries or self._arrived)
            return not self._closed

    def _work(self, encoder: Encoding) -> None:
        while (step := self._next()) is not None:
            step(encoder)

    def _next(self) -> Step | None:
        """Sleep until there is something to do, and return it; none when closed."""
        with self._changed:
            while not self._closed:
                step = self._due()
                if step is not None:
                    return step
                self._changed.wait()
        return None

    def _due(self) -> Step | None:
        """Return the one thing that is due: a query, a full bucket, newcomers, else a part-filled bucket.

        One thread tokenizes at a time, and no part-filled bucket goes while it may still be filled.
        """
        if self._queries:
            return partial(self._answer, self._queries.popleft())
        if urgent := self._buckets.take_urgent():
            return partial(self._attempt, urgent, self._encode)
        if self._tokenizing:
            return None
        if self._arrived:
            self._tokenizing = True
            return partial(self._receive, [self._arrived.popleft() for _ in range(min(_TOKENIZE, len(self._arrived)))])
        if self._buckets:
            return partial(self._attempt, self._buckets.take_any(), self._encode)
        return None

    def _answer(self, asked: tuple[str, Future[bytes]], encoder: Encoding) -> None:
        text, future = asked
        try:
            vector = encoder.query(text)
        except Exception as error:  # noqa: BLE001 - the caller hears of it
            future.set_exception(error)
            return
        with self._changed:
            self._query_cache.put(text, vector)
        future.set_result(vector)

    def _receive(self, jobs: list[Job], encoder: Encoding) -> None:
        try:
            self._attempt(jobs, self._tokenize, encoder)
        finally:
            with self._changed:
                self._tokenizing = False
                self._changed.notify_all()

    def _attempt(self, jobs: list[Job], work: Callable[[list[Job], Encoding], None], encoder: Encoding) -> None:
        """Work on jobs together; if that fails, each alone, so that one odd text does not fail its company."""
        try:
            work(jobs, encoder)
        except Unavailable as error:
            self._fail(jobs, error)
        except Exception as error:  # noqa: BLE001 - the callers hear of it
            if len(jobs) == 1:
                self._fail(jobs, error)
            for job in jobs if len(jobs) > 1 else []:
                self._attempt([job], work, encoder)

    def _tokenize(self, jobs: list[Job], encoder: Encoding) -> None:
        prepared = encoder.prepare([job.text for job in jobs])
        with self._changed:
            for job, row in zip(jobs, prepared, strict=True):
                job.prepared = row
                self._buckets.add(row.bucket, job)

    def _encode(self, jobs: list[Job], encoder: Encoding) -> None:
        vectors = encoder.encode([job.prepared for job in jobs if job.prepared is not None])
        with self._changed:
            self.encoded += len(jobs)
            for job, vector in zip(jobs, vectors, strict=True):
                self._cache.put(job.text, vector)
                self._flying.pop(job.text, None)  # gone already if the pool was closed over this call
        for job, vector in zip(jobs, vectors, strict=True):
            job.give(vector)

    def _fail(self, jobs: list[Job], error: Exception) -> None:
        with self._changed:
            for job in jobs:
                self._flying.pop(job.text, None)
        for job in jobs:
            job.fail(error)

    def _fail_all(self, error: Exception) -> None:
        with self._changed:
            queries, self._queries = self._queries, deque()
            self._arrived.clear()
            self._buckets = Buckets()
            jobs = list(self._flying.values())
        for _, future in queries:
            future.set_exception(error)
        self._fail(jobs, error)
