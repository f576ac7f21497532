"""Which records are the newest is known in memory, and a write is seen at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infra.qdrant import EdgeIndex
from schemas.memory import RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter
from tests.fakes.index_rows import closed, event, record

A, B = Space("acme/a"), Space("acme/b")
TURNS = Filter(A, 99, frozenset({RecordKind.TURN}))


def opened(folder: Path) -> EdgeIndex:
    return EdgeIndex.open(folder, generation=1, model="test", dimension=8)


async def newest(index: EdgeIndex, where: Filter = TURNS) -> list[int]:
    return [found.record.since for found in await index.matching(where, 1)]


async def test_a_write_is_seen_by_the_next_read(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert await newest(index) == await newest(index) == []
    rows = [record(A, since, f"turn {since}") for since in range(3)]
    for since, row in enumerate(rows):
        await index.write(A, [event(A, since, [row])])
        assert await newest(index) == await newest(index) == [since]
    await index.write(A, [event(A, 3, [closed(rows[2], 3)])])
    assert await newest(index) == [1]
    assert await newest(index, replace(TURNS, as_of=2)) == [2]
    assert await newest(index, replace(TURNS, space=B)) == []
    await index.close()


async def test_what_is_in_memory_is_not_told_of_a_closed_index(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert await newest(index) == []
    await index.close()
    with pytest.raises(Unavailable):
        await newest(index)
