"""Waiting for what workers do in their own time: how long that may take is no part of what is tested."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Callable
from typing import Any


async def until(what: Callable[[], Any], within: float = 60.0) -> Any:
    """Return what ``what`` (it may be awaitable) says as soon as that is true.

    If it never is, the report shows where every task stands: such a failure may not come again when it is looked for.
    """
    end, found = time.monotonic() + within, None
    while time.monotonic() < end:
        found = what()
        found = await found if inspect.isawaitable(found) else found
        if found:
            return found
        await asyncio.sleep(0.1)
    for task in asyncio.all_tasks():
        task.print_stack(file=sys.stderr)
    msg = f"not within {within} s: {found!r}"
    raise AssertionError(msg)
