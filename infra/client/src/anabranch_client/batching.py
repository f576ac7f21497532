"""A publisher that gathers turns, for programs with threads: the one for asyncio, in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self, TypeVar

from anabranch_client.aio import AsyncClient
from anabranch_client.aio_batching import AsyncBatching
from anabranch_client.answers import Accepted
from anabranch_client.errors import WrongUse
from anabranch_client.lane import BatchLimits
from anabranch_client.parts import Encoded, encoded
from anabranch_client.room import ThreadRoom
from anabranch_client.turns import Turn, check_space

T = TypeVar("T")


class Batching:
    """As ``AsyncBatching``, for programs with threads; many threads may share one. Its thread ends with ``close``.

    Callbacks of the futures run in that thread, which sends: one that waits there for a ``publish`` waits for itself.
    """

    def __init__(self, make: Callable[[], AsyncClient], limits: BatchLimits) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="anabranch-batching", daemon=True)
        self._thread.start()
        self._lock = Lock()
        self._room = ThreadRoom(limits.max_waiting_bytes)
        self._is_closed = False
        self._client, self._batching = self._done(_begun(make, limits))

    def send(self, space: str, turn: Turn) -> Future[Accepted]:
        """Take a turn, and return what will tell when the log has it. Waits while too many bytes wait.

        Raises:
            WrongUse: if the space can't be one, or the publisher is closed.
        """
        one = encoded(check_space(space), turn)
        self._room.take(len(one.payload))
        acknowledged: Future[Accepted] = Future()
        acknowledged.set_running_or_notify_cancel()
        with self._lock:
            if not self._is_closed:
                self._loop.call_soon_threadsafe(self._put, space, one, acknowledged)
                return acknowledged
        self._room.give(len(one.payload))
        msg = f"turn {turn.turn_id} of {space} came to a publisher that is closed"
        raise WrongUse(msg)

    def _put(self, space: str, one: Encoded, acknowledged: Future[Accepted]) -> None:
        def ended(inner: asyncio.Future[Accepted]) -> None:
            self._room.give(len(one.payload))
            _pass_on(inner, acknowledged)

        self._batching.put(space, one).add_done_callback(ended)

    def flush(self) -> None:
        """Return when each turn sent so far has its end: accepted or failed, as its future says."""
        self._done(self._batching.flush())

    def close(self) -> None:
        """Send what waits, and take no more."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True  # from here on nothing new reaches the thread
        try:
            _result(asyncio.run_coroutine_threadsafe(self._ended(), self._loop))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> Self:
        """Return the publisher."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Send what waits, and take no more."""
        self.close()

    async def _ended(self) -> None:
        try:
            await self._batching.close()
        finally:
            await self._client.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:  # whoever flushes meanwhile
            await asyncio.wait(others)

    def _done(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            if self._is_closed:
                work.close()
                msg = "this publisher is closed"
                raise WrongUse(msg)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return _result(future)


def _result(future: Future[T]) -> T:
    """Return what the thread makes of its work, which is given up where the caller is interrupted."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def _begun(make: Callable[[], AsyncClient], limits: BatchLimits) -> tuple[AsyncClient, AsyncBatching]:
    client = make()
    return client, client.batching(limits.max_turns, limits.max_bytes, limits.linger_ms, limits.max_waiting_bytes)


def _pass_on(inner: asyncio.Future[Accepted], outer: Future[Accepted]) -> None:
    """Tell in one thread what was told in another."""
    if inner.cancelled():
        outer.set_exception(WrongUse("this publisher was closed before the turn was sent"))
    elif (error := inner.exception()) is not None:
        outer.set_exception(error)
    else:
        outer.set_result(inner.result())
