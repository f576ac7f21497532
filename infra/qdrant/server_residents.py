"""Spaces in memory where other processes write: complete as far as nothing can be missing, and grown from there.

Records are insert-only, what closes one stays, and all of a position is there when the watermark has reached it. So
what was read up to a watermark stays right for every read as of a position up to it; a later one reads what came since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from weakref import WeakValueDictionary

from infra.qdrant.columns import Stored
from infra.qdrant.resident import Resident
from infra.qdrant.residents import Shelf, wants_vectors
from schemas.space import Space


@dataclass(frozen=True, slots=True)
class Part:
    """What of a space came after ``above``, up to ``up_to``; ``vectors`` tells whether they come along."""

    space: Space
    above: int
    up_to: int
    vectors: bool = False


@dataclass(slots=True)
class GrowingResidents:
    """``load`` reads the records of a part, ``closings`` what was closed in it; ``watermark`` says what is complete."""

    load: Callable[[Part], Awaitable[Sequence[Stored]]]
    closings: Callable[[Part], Awaitable[Mapping[str, int]]]
    watermark: Callable[[Space], Awaitable[int]]
    dimension: int
    shelf: Shelf = field(default_factory=Shelf)
    _growing: WeakValueDictionary[Space, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def of(self, space: Space, as_of: int) -> Resident:
        """Return a space with all that is there as of a position."""
        async with self._alone(space):
            return await self._grown(space, as_of)

    async def with_vectors(self, space: Space, as_of: int) -> Resident | None:
        """Return it with its vectors, if it has been asked for often enough and they are not too many."""
        async with self._alone(space):
            resident = await self._grown(space, as_of)
            if wants_vectors(resident, self.dimension):
                whole = await self.load(Part(space, -1, resident.reached, vectors=True))
                vectors = {record.id: record.vector for record in whole if record.vector is not None}
                self.shelf.take(space, resident, vectors, self.dimension)
            return resident if resident.dimension else None

    def _alone(self, space: Space) -> asyncio.Lock:
        return self._growing.setdefault(space, asyncio.Lock())

    async def _grown(self, space: Space, as_of: int) -> Resident:
        resident = self.shelf.get(space)
        if resident is None:
            resident = self.shelf.put(space)
        if as_of <= resident.reached:
            return resident
        complete = await self.watermark(space)  # asked first: what it vouches for is there to be read
        if as_of > complete:
            return await self._apart(space, as_of)
        part = Part(space, resident.reached, complete, vectors=resident.dimension is not None)
        closings = self.closings(part) if part.above >= 0 else _none()
        records, closed = await asyncio.gather(self.load(part), closings)
        self.shelf.add(space, resident, records, closed)
        resident.reached = complete
        return resident

    async def _apart(self, space: Space, as_of: int) -> Resident:
        """Read what may be half of a write for this read only."""
        resident = Resident(dimension=self.dimension)
        for record in sorted(await self.load(Part(space, -1, as_of, vectors=True)), key=attrgetter("since")):
            resident.add(record)
        return resident


async def _none() -> Mapping[str, int]:
    """Records that are read say themselves whether they are closed."""
    return {}
