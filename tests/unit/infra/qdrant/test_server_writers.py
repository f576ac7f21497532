"""Several writers at one server: what is there stays, whoever comes late, and a watermark only rises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

from infra.qdrant.process import Address
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_conditions import below
from schemas.memory import RecordKind, Row
from schemas.space import Space
from stages.ports import Found
from tests.fakes.index_rows import changed, closed, event, left, record
from tests.fakes.index_suite import A, fresh_alias, ids, open_server, vector, where, write

WRITERS = 4
ROUNDS = 25


@pytest.fixture
async def writers(address: Address) -> AsyncIterator[list[ServerIndex]]:
    """Writers with connections of their own, as processes have."""
    async with AsyncExitStack() as stack:
        alias = stack.enter_context(fresh_alias(address))
        opened = [await open_server(address, alias) for _ in range(WRITERS)]
        for one in opened:
            stack.push_async_callback(one.close)
        yield opened


async def _write_and_look(writer: ServerIndex, space: Space, position: int) -> bool:
    await writer.write(space, [event(space, position)])
    return await writer.watermark(space) >= position


async def test_writers_that_race_leave_the_highest_watermark(writers: list[ServerIndex]) -> None:
    """Each round is a new space, so that the first write of all races too."""
    chance = Random(3)
    for number in range(ROUNDS):
        space = Space(f"acme/race-{number}")
        positions = chance.sample(range(50), 3 * WRITERS)
        races = [_write_and_look(writers[place % WRITERS], space, at) for place, at in enumerate(positions)]
        assert all(await asyncio.gather(*races))
        assert await writers[0].watermark(space) == max(positions)


async def test_writers_of_the_same_rows_write_them_once(writers: list[ServerIndex]) -> None:
    rows = [record(A, 0, f"river {n}", ordinal=n) for n in range(30)]
    marked = event(A, 1, [closed(rows[0], 1), changed(rows[1], 1), left(rows[2], 1)])
    batch = [event(A, 0, rows, [(row, vector(n)) for n, row in enumerate(rows)]), marked]
    await asyncio.gather(*(writer.write(A, batch) for writer in writers))
    told = [await writer.matching(where(closed_too=True), 99) for writer in writers]
    assert [ids(hits) for hits in told] == [sorted(row.id for row in rows)] * WRITERS
    by_id = {hit.record.id: hit for hit in told[0]}
    assert by_id[rows[0].id].until == 1
    assert by_id[rows[1].id].changed == (1, "new")
    assert by_id[rows[2].id].left == 1


async def test_a_worker_that_wakes_up_changes_nothing(writers: list[ServerIndex]) -> None:
    """Its rows differ here, which they never do, so that one that got through would be seen."""
    awake, woken = writers[:2]
    turn, fact = record(A, 0, "river"), record(A, 0, "stone", kind=RecordKind.FACT)
    await awake.write(A, [event(A, 0, [turn, fact], [(turn, vector(5))])])
    await awake.write(A, [event(A, 7, [closed(turn, 7), changed(fact, 6, "newer"), left(fact, 5)])])
    asked = where(kinds=frozenset(RecordKind), closed_too=True)
    seen = await awake.matching(asked, 9), await awake.nearest(asked, [vector(1)], 9)
    old = [turn.model_copy(update={"text": "old"}), fact.model_copy(update={"text": "old"})]
    marks: list[Row] = [closed(turn, 3, "other"), changed(fact, 3, "other"), left(fact, 3)]
    late = [event(A, 0, old, [(turn, vector(1))]), event(A, 3, marks)]
    await woken.write(A, late)
    await woken.write(A, late[:1])
    assert (await awake.matching(asked, 9), await awake.nearest(asked, [vector(1)], 9)) == seen
    assert await awake.watermark(A) == 7


async def test_a_worker_that_froze_between_looking_and_writing_changes_nothing(
    writers: list[ServerIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    awake, woken = writers[:2]
    turn = record(A, 0, "river")
    await awake.write(A, [event(A, 0, [turn], [(turn, vector(5))]), event(A, 4, [closed(turn, 4), left(turn, 4)])])

    async def nothing_yet(_batch: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(woken, "_held", nothing_yet)
    old = turn.model_copy(update={"text": "old"})
    await woken.write(A, [event(A, 0, [old], [(old, vector(1))]), event(A, 1, [closed(turn, 1), left(turn, 1)])])
    [found] = await awake.fetch(A, 9, [turn.id])
    assert (found.record, found.until, found.left) == (turn, 4, 4)
    assert await awake.nearest(where(as_of=3), [vector(1)], 1) == [[Found(turn, score=5)]]
    assert await awake.watermark(A) == 4


async def test_what_is_written_in_several_requests_is_whole(writers: list[ServerIndex]) -> None:
    rows = [record(A, 0, f"river {n}", ordinal=n, kind=[RecordKind.TURN, RecordKind.FACT][n % 2]) for n in range(700)]
    marks: list[Row] = [mark for row in rows for mark in (closed(row, 1), left(row, 1))]
    await writers[0].write(A, [event(A, 0, rows), event(A, 1, marks)])
    told = await writers[1].fetch(A, 1, [row.id for row in rows])
    assert [(hit.record, hit.until, hit.left) for hit in told] == [(row, 1, 1) for row in rows]


async def test_conditions_of_a_request_are_judged_point_by_point(address: Address) -> None:
    """What the watermark and the insert-only records rest on. An older server might judge the request as one."""
    client = AsyncQdrantClient(
        url=address.url, grpc_port=address.grpc_port, prefer_grpc=True, check_compatibility=False
    )
    with fresh_alias(address) as name:
        await client.create_collection(name, vectors_config={"v": VectorParams(size=1, distance=Distance.DOT)})
        await client.upsert(name, [_at(1, 10), _at(2, 20)])
        await client.upsert(name, [_at(1, 15), _at(2, 15), _at(3, 15)], update_filter=below(15))
        points = await client.retrieve(name, [1, 2, 3])
        assert {point.id: (point.payload or {})["position"] for point in points} == {1: 15, 2: 20, 3: 15}
        await client.delete_collection(name)
    await client.close()


def _at(number: int, position: int) -> PointStruct:
    return PointStruct(id=number, vector={}, payload={"position": position})


async def test_another_space_keeps_its_records(writers: list[ServerIndex]) -> None:
    other = Space("zoo/b")
    row = record(A, 0, "river")
    await write(writers[0], row)
    stolen = row.model_copy(update={"space": other, "text": "mine"})
    with pytest.raises(ValueError, match="another space"):
        await writers[1].write(other, [event(other, 0, [stolen])])
    assert [hit.record for hit in await writers[1].fetch(A, 9, [row.id])] == [row]
    assert await writers[1].watermark(other) == -1
