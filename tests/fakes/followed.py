"""An index in plain Python as a follower sees it, which stops answering after so many writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.committed import Committed
from schemas.space import Space
from stages.contract import Unavailable
from tests.fakes.index import MemoryIndex


@dataclass
class FollowedIndex:
    """``inner`` keeps what is written; ``writes`` are what it still takes (``None``: any number)."""

    inner: MemoryIndex
    writes: int | None = None

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        return [await self.inner.watermark(space) for space in spaces]

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        if self.writes is not None:
            if not self.writes:
                msg = "the index does not answer"
                raise Unavailable(msg)
            self.writes -= 1
        await self.inner.write(space, batch)
