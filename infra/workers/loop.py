"""The event loop of workers: in C where there is one, for Faust's threads as well."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

try:
    import uvloop
except ImportError:  # Windows
    uvloop = None  # type: ignore[assignment]  # the standard loop does


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a worker's work to its end."""
    use()
    asyncio.run(work)


def use() -> None:
    """Let every loop that is made from now on be that one."""
    if uvloop is not None:
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
