"""A thread with an event loop of its own: for reports, which are no coroutines, and for work that holds up nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

T = TypeVar("T")


@dataclass
class LoopThread:
    """Runs coroutines in a thread of its own inside a ``with`` block. What they open belongs to its loop."""

    name: str = "anabranch-reads"
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread = threading.Thread(target=self._loop.run_forever, name=self.name, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it, with whatever still runs there."""
        self.call(cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work and wait for it; whoever calls does nothing else meanwhile."""
        return self.begin(work).result()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run work, and return where its result will be."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def tell(self, call: Callable[[], object]) -> None:
        """Let the thread make a call soon; nobody waits for it."""
        self._loop.call_soon_threadsafe(call)

    async def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work; the caller's loop goes on meanwhile, and if the caller is cancelled, so is the work."""
        return await asyncio.wrap_future(self.begin(work))


async def cancel_others() -> None:
    """Cancel whatever else runs in this loop, and return when it has ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
