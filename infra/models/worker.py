"""The one thread that owns an encoder: merges concurrent calls, queries first."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Final

from infra.models.encoder import Encoder
from infra.models.queueing import Buckets, Call, Job
from infra.models.vector_cache import VectorCache
from stages.contract import Unavailable

_QUERY_CACHE: Final = 1024 * 1024
_TOKENIZE: Final = 64
"""Texts tokenized at a time, about 10 ms, so that a query does not wait long behind them."""
_LEAVE: Final = 20
"""Seconds to wait for a running call, or for a load that is under way, when closing."""


class EncoderWorker:
    """Takes texts from any thread and gives futures. The encoder is loaded by its own thread at the first text."""

    def __init__(self, load: Callable[[], Encoder], cache_bytes: int) -> None:
        self._load = load
        self._encoder: Encoder | None = None
        self._cache, self._query_cache = VectorCache(cache_bytes), VectorCache(_QUERY_CACHE)
        self._changed = threading.Condition()
        self._arrived: deque[Job] = deque()
        self._queries: deque[tuple[str, Future[bytes]]] = deque()
        self._flying: dict[str, Job] = {}
        self._buckets = Buckets()
        self._thread: threading.Thread | None = None
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
            self._changed.notify()
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
                self._changed.notify()
        if cached is not None:
            future.set_result(cached)
        return future

    def close(self) -> None:
        """Stop after the running call; who still waits gets ``Unavailable``."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(_LEAVE)
        atexit.unregister(self.close)
        self._fail_all(Unavailable("the encoder was closed"))

    def timed(self, texts: Sequence[str]) -> float:
        """Return the seconds that the loaded model takes for texts in free batches. Nothing else may be asked then."""
        return self._loaded().free_batches(texts)

    def _start(self) -> None:
        if self._closed:
            msg = "the encoder was closed"
            raise Unavailable(msg)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="anabranch-encoder", daemon=True)
            self._thread.start()
            atexit.register(self.close)  # a thread that the interpreter cuts off inside torch may crash it

    def _join(self, text: str, call: Call) -> None:
        job = self._flying.get(text)
        if job is None:
            job = self._flying[text] = Job(text)
            self._arrived.append(job)
        job.calls.append(call)

    def _work(self) -> None:
        while self._wait():
            try:
                encoder = self._loaded()
            except Exception as error:  # noqa: BLE001 - whatever it is, the callers have to hear of it
                self._fail_all(error)
            else:
                self._step(encoder)

    def _wait(self) -> bool:
        """Sleep until there is something to do; tell whether to go on."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._queries or self._arrived or self._buckets)
            return not self._closed

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    def _step(self, encoder: Encoder) -> None:
        """Do the one thing that is due: a query, a full bucket, newcomers, else a part-filled bucket."""
        with self._changed:
            query = self._queries.popleft() if self._queries else None
        if query is not None:
            self._answer(encoder, *query)
        elif urgent := self._buckets.take_urgent():
            self._attempt(urgent, lambda jobs: self._encode(encoder, jobs))
        elif fresh := self._newcomers():
            self._attempt(fresh, lambda jobs: self._tokenize(encoder, jobs))
        else:
            self._attempt(self._buckets.take_any(), lambda jobs: self._encode(encoder, jobs))

    def _newcomers(self) -> list[Job]:
        with self._changed:
            return [self._arrived.popleft() for _ in range(min(_TOKENIZE, len(self._arrived)))]

    def _answer(self, encoder: Encoder, text: str, future: Future[bytes]) -> None:
        try:
            vector = encoder.query(text)
        except Exception as error:  # noqa: BLE001 - the caller hears of it
            future.set_exception(error)
            return
        with self._changed:
            self._query_cache.put(text, vector)
        future.set_result(vector)

    def _attempt(self, jobs: list[Job], work: Callable[[list[Job]], None]) -> None:
        """Work on jobs together; if that fails, each alone, so that one odd text does not fail its company."""
        try:
            work(jobs)
        except Unavailable as error:
            self._fail(jobs, error)
        except Exception as error:  # noqa: BLE001 - the callers hear of it
            if len(jobs) == 1:
                self._fail(jobs, error)
            for job in jobs if len(jobs) > 1 else []:
                self._attempt([job], work)

    def _tokenize(self, encoder: Encoder, jobs: list[Job]) -> None:
        for job, prepared in zip(jobs, encoder.prepare([job.text for job in jobs]), strict=True):
            job.prepared = prepared
            self._buckets.add(prepared.bucket, job)

    def _encode(self, encoder: Encoder, jobs: list[Job]) -> None:
        vectors = encoder.encode([job.prepared for job in jobs if job.prepared is not None])
        with self._changed:
            self.encoded += len(jobs)
            for job, vector in zip(jobs, vectors, strict=True):
                self._cache.put(job.text, vector)
                del self._flying[job.text]
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
