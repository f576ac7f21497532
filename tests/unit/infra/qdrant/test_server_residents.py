"""Spaces in memory that others write: whatever happens while one reads, it is answered with all that is there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from infra.qdrant import residents as module
from infra.qdrant.columns import Stored
from infra.qdrant.server_residents import GrowingResidents, Part
from schemas.memory import OPEN, RecordKind
from schemas.space import Space
from stages.ports import Filter

A, B = Space("acme/a"), Space("acme/b")
SIZE = 2


def stored(number: int, until: int = OPEN) -> Stored:
    brief = f'["turn","t{number}",{number},null,null,null,null,null,[]]'
    vector = bytes([number + 1, 0])
    return Stored(f"id-{number:03d}", RecordKind.TURN, number, until, [f"turn t{number}"], {7: 64}, brief, vector)


async def nothing() -> None:
    """Happen at once."""


@dataclass
class Server:
    """Stands for the index: ``meanwhile`` happens while records are read."""

    held: dict[Space, list[Stored]]
    reached: dict[Space, int]
    closed: dict[Space, dict[str, int]] = field(default_factory=dict)
    meanwhile: Callable[[], Awaitable[None]] = nothing
    read: list[Part] = field(default_factory=list)

    async def load(self, part: Part) -> list[Stored]:
        self.read.append(part)
        await self.meanwhile()
        found = [one for one in self.held[part.space] if part.above < one.since <= part.up_to]
        return found if part.vectors else [one._replace(vector=None) for one in found]

    async def closings(self, part: Part) -> dict[str, int]:
        known = self.closed.get(part.space, {})
        return {key: until for key, until in known.items() if part.above < until <= part.up_to}

    async def watermark(self, space: Space) -> int:
        return self.reached[space]

    def residents(self) -> GrowingResidents:
        return GrowingResidents(self.load, self.closings, self.watermark, SIZE)


def server(count: int = 3) -> Server:
    return Server({space: [stored(n) for n in range(count)] for space in (A, B)}, {A: count - 1, B: count - 1})


def where(space: Space, as_of: int) -> Filter:
    return Filter(space, as_of, frozenset({RecordKind.TURN}))


async def newest(residents: GrowingResidents, space: Space, as_of: int) -> list[int]:
    resident = await residents.of(space, as_of)
    return [int(record_id[3:]) for record_id, _ in resident.newest(where(space, as_of), 9)]


async def test_what_came_since_is_read_once() -> None:
    one = server()
    residents = one.residents()
    assert await newest(residents, A, 1) == [1, 0]
    assert await newest(residents, A, 2) == [2, 1, 0]
    one.held[A].append(stored(3))
    one.reached[A], one.closed[A] = 3, {"id-001": 3}
    assert await newest(residents, A, 3) == [3, 2, 0]
    assert await newest(residents, A, 2) == [2, 1, 0]
    assert [(part.above, part.up_to) for part in one.read] == [(-1, 2), (2, 3)]


async def test_what_lies_above_the_watermark_is_seen_and_not_kept() -> None:
    one = server()
    one.reached[A] = 1
    residents = one.residents()
    assert await newest(residents, A, 2) == [2, 1, 0]
    assert await newest(residents, A, 1) == [1, 0]
    one.held[A][2] = stored(2)._replace(id="id-009")
    one.reached[A] = 2
    assert await newest(residents, A, 2) == [9, 1, 0]


async def test_a_space_driven_out_while_it_is_read_is_answered_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POSTINGS", 10)
    monkeypatch.setattr(module, "WORTH", 0)
    one = server()
    residents = one.residents()

    async def drive_out() -> None:
        one.meanwhile = nothing
        await residents.of(B, 2)
        residents.shelf.forget(A)

    one.meanwhile = drive_out
    assert await newest(residents, A, 2) == [2, 1, 0]
    one.meanwhile = drive_out
    resident = await residents.with_vectors(A, 2)
    assert resident is not None
    assert resident.nearest(where(A, 2), [bytes([1, 0])], 1) == [[("id-002", 3)]]
    assert await newest(residents, A, 2) == [2, 1, 0]


async def test_readers_at_once_share_what_is_read() -> None:
    one = server()
    residents = one.residents()
    assert await asyncio.gather(*(newest(residents, A, 2) for _ in range(5))) == [[2, 1, 0]] * 5
    assert len(one.read) == 1
