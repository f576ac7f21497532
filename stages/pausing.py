"""Long work in one go, which lets others go on: a home that is served consolidates in the thread that answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

AT_ONCE: Final = 32
"""Things that are done without a pause: long texts take a millisecond each."""

T = TypeVar("T")


async def pausing(things: Iterable[T], at_once: int = AT_ONCE) -> AsyncIterator[T]:
    """Give things in order; whatever else waits in the loop goes on after every ``at_once``."""
    for number, thing in enumerate(things, start=1):
        yield thing
        if number % at_once == 0:
            await asyncio.sleep(0)
