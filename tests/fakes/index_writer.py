"""A process that writes to an index until it is killed: ``python -m tests.fakes.index_writer FOLDER``.

It goes on behind each space's watermark, and prints ``space position`` when a write has returned.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np

from infra.qdrant import EdgeIndex
from schemas.committed import Committed
from schemas.memory import RecordKind, RecordRow, Row
from schemas.space import Space
from tests.fakes.index_rows import closed, event, record

SIZE = 32
SPACES = (Space("acme/a"), Space("acme/b"), Space("zoo/c"))
BATCH = 8
EVERY = 3  # each third event closes the fact of the one before


def vector(row: RecordRow) -> bytes:
    drawn: np.ndarray[tuple[int], np.dtype[np.int8]]
    drawn = np.random.default_rng(row.since).integers(-20, 21, SIZE, dtype=np.int8)
    return drawn.tobytes()


def rows(space: Space, position: int) -> list[RecordRow]:
    fact = record(space, position, f"fact {position}", kind=RecordKind.FACT)
    return [record(space, position, f"turn {position}"), fact]


def made(space: Space, position: int) -> Committed:
    new = rows(space, position)
    marks: list[Row] = [closed(rows(space, position - 1)[1], position)] if position % EVERY == 1 else []
    return event(space, position, [*new, *marks], [(row, vector(row)) for row in new])


def opened(folder: Path) -> EdgeIndex:
    return EdgeIndex.open(folder, generation=1, model="test", dimension=SIZE)


async def _write(index: EdgeIndex, space: Space) -> None:
    while True:
        start = await index.watermark(space) + 1
        await index.write(space, [made(space, position) for position in range(start, start + BATCH)])
        print(space, start + BATCH - 1, flush=True)  # noqa: T201 - the parent reads it


async def _main(folder: Path) -> None:
    index = opened(folder)
    await asyncio.gather(*(_write(index, space) for space in SPACES))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
