"""The spaces in use, held in memory beside the engine: who searches there does not ask it.

A space is read from the index when it is first asked for, its vectors when it was asked for what is near often enough
for that to pay; from then on each write is added. Without its vectors in memory the engine is asked for what is near.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from infra.qdrant.columns import Stored
from infra.qdrant.resident import Resident
from schemas.space import Space

POSTINGS: Final = 1_000_000
"""Postings kept over all spaces (70,000 short records, about 50 MB): then the space longest unused goes."""

VECTORS: Final = 256 * 2**20
"""Bytes of vectors kept over all spaces: then those of the space longest unused go.

They are the records of 10,000 long turns (75,000 of 384 dimensions, 179 MB as columns grow): with half of it each such
turn asked the engine twice, and took 1.6 times what it takes in a small space.
"""

WORTH: Final = 4
"""Dense questions about a space until its vectors are read: 15 us each, so that a command which asks once does not."""


@dataclass(slots=True)
class Shelf:
    """So many spaces as there is room for; those longest unused go, their vectors first.

    What is in use is given along with its space: it may have gone from here while its user waited, and stays right.
    """

    _spaces: OrderedDict[Space, Resident] = field(default_factory=OrderedDict)
    _postings: int = 0
    _vectors: int = 0

    def get(self, space: Space) -> Resident | None:
        """Return a space that is here: it was used last."""
        if space in self._spaces:
            self._spaces.move_to_end(space)
        return self._spaces.get(space)

    def put(self, space: Space) -> Resident:
        """Begin with a space."""
        self.forget(space)
        resident = self._spaces[space] = Resident()
        self._count(resident, 1)
        return resident

    def add(self, space: Space, resident: Resident, records: Iterable[Stored], closed: Mapping[str, int]) -> None:
        """Add new records and closings; a space whose records come out of order does not stay."""
        is_here = self._spaces.get(space) is resident
        if is_here:
            self._count(resident, -1)
        in_order = [resident.add(record) for record in sorted(records, key=attrgetter("since"))]
        for record_id, until in closed.items():
            resident.close(record_id, until)
        if is_here:
            self._count(resident, 1)
            self._evict(space)
            if not all(in_order):
                self.forget(space)

    def take(self, space: Space, resident: Resident, vectors: Mapping[str, bytes], dimension: int) -> None:
        """Hold the vectors of a space from now on."""
        resident.take(vectors, dimension)
        if self._spaces.get(space) is resident:
            self._vectors += resident.vectors
            self._evict(space)

    def forget(self, space: Space) -> None:
        """Drop a space."""
        if resident := self._spaces.pop(space, None):
            self._count(resident, -1)

    def _count(self, resident: Resident, sign: int) -> None:
        # a large space counts as half of the room: it and its small neighbours would else drive each other out
        self._postings += sign * min(resident.postings, POSTINGS // 2)
        self._vectors += sign * resident.vectors

    def _evict(self, used: Space) -> None:
        """Let go of what is too much, but the space in use."""
        for space in [space for space in self._spaces if space != used]:
            if self._postings <= POSTINGS:
                break
            self.forget(space)
        for resident in self._spaces.values():
            if self._vectors <= VECTORS:
                return
            self._vectors -= resident.vectors
            resident.drop()


def wants_vectors(resident: Resident, dimension: int) -> bool:
    """Note a dense question about a space; return whether its vectors should now be read."""
    resident.near += 1
    too_many = len(resident.facts) * dimension * 4 * 3 // 2 > VECTORS  # with the room to grow that they may have
    return resident.dimension is None and resident.near > WORTH and not too_many


@dataclass(slots=True)
class Residents:
    """Spaces that only this process writes; ``load`` reads a space from the index, ``load_vectors`` its vectors."""

    load: Callable[[Space], Iterable[Stored]]
    load_vectors: Callable[[Space], Mapping[str, bytes]]
    dimension: int
    shelf: Shelf = field(default_factory=Shelf)

    def of(self, space: Space) -> Resident:
        """Return a space, complete with all that was added."""
        resident = self.shelf.get(space)
        if resident is None:
            records = list(self.load(space))  # first: of a space that cannot be read nothing is kept
            resident = self.shelf.put(space)
            self.shelf.add(space, resident, records, {})
        return resident

    def with_vectors(self, space: Space) -> Resident | None:
        """Return a space with its vectors, if it has been asked for often enough and they are not too many."""
        resident = self.of(space)
        if wants_vectors(resident, self.dimension):
            self.shelf.take(space, resident, self.load_vectors(space), self.dimension)
        return resident if resident.dimension else None

    def add(self, space: Space, records: Iterable[Stored], closed: Mapping[str, int]) -> None:
        """Add what was written; a space that is not in memory will be read with it."""
        if resident := self.shelf.get(space):
            self.shelf.add(space, resident, records, closed)

    def forget(self, space: Space) -> None:
        """Drop a space that may not match the index any more; it is read again."""
        self.shelf.forget(space)
