"""The document frequencies of BM25 where other processes write: counted as far as nothing can be missing.

Records are insert-only, and those of a space are complete up to its watermark. So what was counted up to there stays
right, and a read as of a later position adds what came since. What lies above the watermark may be half of a write: it
is counted for the read that asks for it and then forgotten.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from infra.qdrant.residents import POSTINGS
from infra.qdrant.statistics import Corpus, Entry
from schemas.memory import RecordKind
from schemas.space import Space

_SINCE: Final = itemgetter(1)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a read counts in: the corpus that is kept, and what lies above the watermark."""

    corpora: tuple[Corpus, ...]

    def count(self, kinds: Iterable[RecordKind], as_of: int) -> int:
        """Return how many records of these kinds there are as of a position, closed ones too."""
        return sum(corpus.count(kinds, as_of) for corpus in self.corpora)

    def holding(self, kinds: Iterable[RecordKind], as_of: int, dimension: int) -> int:
        """Return how many of them hold ``dimension``."""
        return sum(corpus.holding(kinds, as_of, dimension) for corpus in self.corpora)


@dataclass(slots=True)
class _Counted:
    corpus: Corpus = field(default_factory=Corpus)
    reached: int = -1
    growing: asyncio.Lock = field(default_factory=asyncio.Lock)


class GrowingStatistics:
    """The corpora of the spaces in use.

    ``load`` reads the entries of a space with ``above < since <= up_to``; ``watermark`` says how far it is complete.
    """

    def __init__(
        self,
        load: Callable[[Space, int, int], Awaitable[Sequence[Entry]]],
        watermark: Callable[[Space], Awaitable[int]],
    ) -> None:
        self._load = load
        self._watermark = watermark
        self._spaces: OrderedDict[Space, _Counted] = OrderedDict()

    async def of(self, space: Space, as_of: int) -> Counts:
        """Return the counts of a space for a read as of a position."""
        counted = self._spaces.setdefault(space, _Counted())
        self._spaces.move_to_end(space)
        async with counted.growing:
            if as_of <= counted.reached:
                return Counts((counted.corpus,))
            rest = await self._grow(space, counted, as_of)
        self._evict()
        return Counts((counted.corpus, rest))

    async def _grow(self, space: Space, counted: _Counted, as_of: int) -> Corpus:
        """Count what came since, and return what of it may not be all there yet."""
        complete = min(await self._watermark(space), as_of)  # asked first: what it vouches for is there to be read
        entries = sorted(await self._load(space, counted.reached, as_of), key=_SINCE)
        rest = Corpus()
        for entry in entries:
            (counted.corpus if entry[1] <= complete else rest).add(entry)
        counted.reached = max(counted.reached, complete)
        return rest

    def _evict(self) -> None:
        size = sum(counted.corpus.size for counted in self._spaces.values())
        while size > POSTINGS and len(self._spaces) > 1:
            size -= self._spaces.popitem(last=False)[1].corpus.size
