"""Several requests at once."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def all_asked(asked: Iterable[Awaitable[T]]) -> list[T]:
    """Return what each came to, in order; all have ended when one raises, so that none is left running behind it.

    Raises:
        Unavailable: if one of them got no answer; what the others got is kept by whoever answered.
    """
    found: list[T] = []
    for one in await gather(*asked, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        found.append(one)
    return found
