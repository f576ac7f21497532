"""How far memory is complete, read from the index: admission in the Kafka runtime."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from schemas.space import Space
from streams.patience import Patience

_PAUSE_S: Final = 0.01
"""Between two looks while somebody waits: a turn takes a few times as long through the stages."""

_AT_ONCE: Final = 256
"""Spaces of one question."""

_KNOWN: Final = 100_000
"""Watermarks kept in memory (about 20 MB)."""


class Watermarked(Protocol):
    """What knows the watermarks: the index."""

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the last position of each space whose records are all there (-1: none).

        Raises:
            Unavailable: if it does not answer.
        """
        ...


@dataclass(slots=True)
class IndexGate:
    """Implements ``Gate``. Lanes that ask at once share a question, and lanes that wait share the asking."""

    index: Watermarked
    patience: Patience = field(default_factory=lambda: Patience(longest=2.0))
    _known: OrderedDict[Space, int] = field(default_factory=OrderedDict)
    _asked: dict[Space, asyncio.Future[int]] = field(default_factory=dict)
    _asking: asyncio.Task[None] | None = None
    holding: int = 0
    """How many lanes wait until memory is complete enough for their next event."""

    def watermark(self, space: Space) -> int:
        """Return what is known of a space."""
        return self._known.get(space, -1)

    @property
    def waiting(self) -> int:
        """How many lanes wait for an answer now."""
        return len(self._asked)

    async def look(self, space: Space) -> int:
        """Return the watermark of a space as it is now."""
        if space not in self._asked:
            self._asked[space] = asyncio.get_running_loop().create_future()
        answer = self._asked[space]
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asyncio.shield(answer)

    async def reached(self, space: Space, position: int) -> None:
        """Wait until the space is committed up to ``position``."""
        self.holding += 1
        try:
            while self.watermark(space) < position and await self.look(space) < position:  # noqa: ASYNC110 - another process writes
                await asyncio.sleep(_PAUSE_S)
        finally:
            self.holding -= 1

    async def _ask(self) -> None:
        try:
            await self._answer()
        except BaseException as error:  # whoever waits must hear of it, whatever it is
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(error)
            self._asked.clear()
            raise

    async def _answer(self) -> None:
        await asyncio.sleep(0)  # lanes that run in this turn of the loop come along
        while self._asked:
            spaces = list(self._asked)[:_AT_ONCE]
            found = await self.patience.ask("admission", lambda spaces=spaces: self.index.watermarks(spaces))  # type: ignore[misc]  # bound now
            for space, watermark in zip(spaces, found, strict=True):
                self._learn(space, watermark)

    def _learn(self, space: Space, watermark: int) -> None:
        self._known[space] = max(watermark, self._known.get(space, -1))
        self._known.move_to_end(space)
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        answer = self._asked.pop(space)
        if not answer.done():
            answer.set_result(self._known[space])
