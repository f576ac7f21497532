"""Whether a part answers, asked without ever cancelling it: one question at a time, and the next asker joins it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

_PATIENCE_S: Final = 2.0
"""Seconds for an answer; who probes has a limit of its own, often five."""


_looks: Final = count()


def unheard(word: str) -> str:
    """Return a text that the model itself has to embed: what was asked before would come from a cache."""
    return f"{word} {next(_looks)}"


@dataclass
class Probe:
    """Asks one part."""

    ask: Callable[[], Awaitable[object]]
    _asking: asyncio.Task[str | None] | None = field(default=None, repr=False)

    async def look(self) -> str | None:
        """Return why it does not answer, or ``None``."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._asked())
        await asyncio.wait({self._asking}, timeout=_PATIENCE_S)
        return self._asking.result() if self._asking.done() else f"no answer within {_PATIENCE_S:g} s"

    async def _asked(self) -> str | None:
        try:
            await self.ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is why the part does not answer
            return str(error) or repr(error)
        return None
