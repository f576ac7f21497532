"""A server that dies, hangs and comes back: what was acknowledged is there, and the index goes on without help."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable

import numpy as np
import pytest

from infra.qdrant import server_calls
from infra.qdrant.process import QdrantProcess
from infra.qdrant.server import ServerIndex
from schemas.memory import OPEN, RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter
from tests.fakes.index_rows import event, record
from tests.fakes.index_suite import A, ids, vector, where, write
from tests.fakes.index_writer import EVERY, SIZE, SPACES, made, rows

BOTH = frozenset({RecordKind.TURN, RecordKind.FACT})
ROUNDS = 3
BACK_S = 10.0


async def opened(server: QdrantProcess, *, over_rest: bool = False, dimension: int = 8) -> ServerIndex:
    port = None if over_rest else server.address.grpc_port
    return await ServerIndex.open(server.address.url, generation=1, model="test", dimension=dimension, grpc_port=port)


@pytest.fixture(params=["grpc", "rest"])
async def index(request: pytest.FixtureRequest, mortal: QdrantProcess) -> AsyncIterator[ServerIndex]:
    one = await opened(mortal, over_rest=request.param == "rest")
    yield one
    await one.close()


async def again(call: Callable[[], Awaitable[object]]) -> object:
    """Ask until there is an answer, as a lane does that waits."""
    async with asyncio.timeout(BACK_S):
        while True:
            try:
                return await call()
            except Unavailable:
                await asyncio.sleep(0.05)


async def test_a_server_that_is_down_is_unavailable_and_works_when_it_is_back(
    mortal: QdrantProcess, index: ServerIndex
) -> None:
    rows = [record(A, 0, "river"), record(A, 0, "stone", ordinal=1)]
    await write(index, *rows, vectors=[vector(3), vector(4)])
    await index.lexical(where(), [["river"]], 1)  # the space is in memory
    mortal.kill()
    asked = where()
    for call in (
        index.nearest(asked, [vector(1)], 1),
        index.matching(asked, 1),
        index.lexical(where(as_of=0), [["river"]], 1),
        index.sparse(asked, ["river"], 1),
        index.fetch(A, 0, [rows[0].id]),
        index.watermark(A),
        index.write(A, [event(A, 1)]),
    ):
        with pytest.raises(Unavailable, match=re.escape(mortal.address.url)):
            await call
    mortal.start()
    assert await again(lambda: index.watermark(A)) == 0
    assert sorted(ids(await index.matching(asked, 9))) == sorted(row.id for row in rows)
    await index.write(A, [event(A, 1, [record(A, 1, "cloud")])])
    assert await index.watermark(A) == 1


async def test_a_restart_between_two_calls_is_hardly_noticed(mortal: QdrantProcess, index: ServerIndex) -> None:
    await write(index, record(A, 0, "river"))
    mortal.stop()
    mortal.start()
    assert await again(lambda: index.watermark(A)) == 0


async def test_a_server_that_hangs_is_unavailable(
    mortal: QdrantProcess, index: ServerIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_calls, "READ_S", 0.5)
    monkeypatch.setattr(server_calls, "WRITE_S", 0.5)
    mortal.signal(signal.SIGSTOP)
    try:
        for call in (index.watermark(A), index.matching(where(), 1), index.write(A, [event(A, 0)])):
            with pytest.raises(Unavailable, match=r"does not answer within 0\.5 s"):
                await call
    finally:
        mortal.signal(signal.SIGCONT)
    monkeypatch.undo()
    await again(lambda: index.write(A, [event(A, 0)]))  # the write above may have been done all the same
    assert await index.watermark(A) == 0


async def _write_on(index: ServerIndex, space: Space, returned: dict[Space, int]) -> None:
    """Write until the server is gone."""
    while True:
        start = await index.watermark(space) + 1
        await index.write(space, [made(space, position) for position in range(start, start + 4)])
        returned[space] = start + 3


async def _check(index: ServerIndex, space: Space, watermark: int) -> None:
    expected = [row for position in range(watermark + 1) for row in rows(space, position)]
    found = await index.fetch(space, watermark, [row.id for row in expected])
    assert [hit.record for hit in found] == expected
    for hit in found:
        closes = hit.record.since + 1
        is_closed = hit.record.kind is RecordKind.FACT and closes % EVERY == 1 and closes <= watermark
        assert hit.until == (closes if is_closed else OPEN)
    counted = Filter(space, watermark, BOTH, closed_too=True)
    assert len(await index.matching(counted, 9999)) == len(expected)


async def test_after_a_kill_what_was_acknowledged_is_there(mortal: QdrantProcess) -> None:
    """No watermark names a record that is missing, wherever in the writes of three spaces the kill came."""
    index = await opened(mortal, dimension=SIZE)
    returned: dict[Space, int] = {}
    for moment_s in np.random.default_rng(11).uniform(0.1, 0.6, ROUNDS):
        writing = [asyncio.create_task(_write_on(index, space, returned)) for space in SPACES]
        await asyncio.sleep(moment_s)  # the moment of the kill is what is tested
        mortal.kill()
        ended = await asyncio.gather(*writing, return_exceptions=True)
        assert all(isinstance(one, Unavailable) for one in ended), ended
        mortal.start()
        await again(lambda: index.watermark(SPACES[0]))
        for space in SPACES:
            watermark = await index.watermark(space)
            assert watermark >= returned.get(space, -1)
            await _check(index, space, watermark)
    assert returned.keys() == set(SPACES)
    await index.close()
