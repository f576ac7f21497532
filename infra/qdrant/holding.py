"""What an index holds of a space, in numbers: two indexes of one memory hold the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from schemas.space import Space


class Holding(NamedTuple):
    """Records, and those of them that have a vector."""

    records: int
    vectors: int


class Counted(Protocol):
    """An index that can be compared with another."""

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the last position of each space whose records are all there (-1: none), in order."""
        ...

    async def held(self, space: Space, as_of: int) -> Holding:
        """Count the records of a space that came up to a position."""
        ...
