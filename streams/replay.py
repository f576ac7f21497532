"""Replay of memory into another index, with the vectors of another model: what ``reindex --vectors`` does.

The durable cursor is the watermark of each space in the index that is written: nothing else is kept, so nothing can
disagree with it. A run that is killed goes on behind it and embeds again what it had in hand, two batches at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from schemas.committed import Committed
from schemas.memory import RecordRow
from schemas.routed import RecordVector
from schemas.space import Space
from stages.ports import Embedder, IndexWriter
from stages.text.spoken import has_vector, searched
from streams.snapshot import MemoryRows

BATCH: Final = 512
"""Texts embedded at once: 4 s of MiniLM on two cores, beside which the flush that follows (0.1 s) hardly counts."""

_EVENTS: Final = 2048
"""Events of a batch at most, where few have texts."""


class Followed(IndexWriter, Protocol):
    """The index that is written: its watermarks say how far it is."""

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the last position of each space whose records are all there (-1: none), in order."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How far a catch-up is: positions done of those that there were to do."""

    done: int
    total: int


@dataclass(slots=True)
class _Batch:
    """Events of several spaces, each space's in order, and the texts of their records."""

    events: dict[Space, list[Committed]] = field(default_factory=dict)
    rows: dict[str, RecordRow] = field(default_factory=dict)
    size: int = 0

    def add(self, event: Committed) -> None:
        self.events.setdefault(event.header.space, []).append(event)
        self.rows |= {row.id: row for row in event.rows if isinstance(row, RecordRow) and has_vector(row)}
        self.size += 1

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= BATCH or self.size >= _EVENTS


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The one writer of ``index``: brings it to where ``source`` is. ``embedder`` is asked for each row's text once."""

    source: MemoryRows
    embedder: Embedder
    index: Followed
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False)

    async def lag(self) -> int:
        """Return how many events the index is behind."""
        return sum(goal - at for at, goal in (await self._spans()).values())

    async def catch_up(self, report: Callable[[Pace], None] = lambda _pace: None) -> int:
        """Write what the index lacks of what the source holds now; return how many events that were.

        One batch is embedded while the one before it is written. Who calls meanwhile waits, and goes on from there.

        Raises:
            Unavailable: if the model or the index does not answer; the next call goes on.
        """
        async with self._turn:
            return await self._catch_up(report)

    async def _catch_up(self, report: Callable[[Pace], None]) -> int:
        spans = await self._spans()
        done, total = 0, sum(goal - at for at, goal in spans.values())
        before: asyncio.Task[list[bytes]] | None = None
        held: _Batch | None = None
        try:
            for batch in self._batches(spans):
                embedding = asyncio.create_task(self._vectors(batch))
                await asyncio.sleep(0)  # it is in the encoder's queue before this thread is busy with the one before
                if held is not None and before is not None:
                    await self._write(held, await before)
                    done += held.size
                    report(Pace(done, total))
                held, before = batch, embedding
            if held is not None and before is not None:
                await self._write(held, await before)
                report(Pace(total, total))
        finally:
            if before is not None:
                before.cancel()
        return total

    async def _spans(self) -> dict[Space, tuple[int, int]]:
        """Return from where to where each space that is behind has to go."""
        goals: Mapping[Space, int] = self.source.reached()
        spaces = sorted(goals)
        at = dict(zip(spaces, await self.index.watermarks(spaces), strict=True))
        return {space: (at[space], goals[space]) for space in spaces if at[space] < goals[space]}

    def _batches(self, spans: Mapping[Space, tuple[int, int]]) -> Iterator[_Batch]:
        batch = _Batch()
        for space, (at, goal) in spans.items():
            for event in self.source.events(space, at, goal):
                batch.add(event)
                if batch.is_full:
                    yield batch
                    batch = _Batch()
        if batch.size:
            yield batch

    async def _vectors(self, batch: _Batch) -> list[bytes]:
        return await self.embedder.embed([searched(row) for row in batch.rows.values()])

    async def _write(self, batch: _Batch, vectors: Sequence[bytes]) -> None:
        """Write the spaces of a batch at the same time: an index in process makes them durable together."""
        given = dict(zip(batch.rows, vectors, strict=True))
        writes = [
            self.index.write(space, [_with(event, given) for event in events]) for space, events in batch.events.items()
        ]
        ended = await asyncio.gather(*writes, return_exceptions=True)  # none goes on behind the back of a failure
        for fault in filter(None, ended):
            raise fault


def _with(event: Committed, vectors: Mapping[str, bytes]) -> Committed:
    """Return an event with the vectors of its records."""
    own = [row.id for row in event.rows if isinstance(row, RecordRow) and row.id in vectors]
    return event.model_copy(update={"vectors": tuple(RecordVector(record_id=one, vector=vectors[one]) for one in own)})
