"""Writing: what the sink's port promises on every index, and what it refuses."""

from __future__ import annotations

import pytest

from schemas.memory import OPEN
from stages.contract import Unavailable
from tests.fakes.index_rows import changed, closed, event, left, record
from tests.fakes.index_suite import (
    EVERY,
    A,
    B,
    Index,
    Opener,
    close_index,
    ids,
    vector,
    where,
    write,
)


async def test_a_repeated_write_changes_nothing(index: Index) -> None:
    row = record(A, 0, "river")
    first = [event(A, 0, [row, row, record(A, 0, "stone", ordinal=1)], [(row, vector(4))])]
    await index.write(A, first)
    await index.write(A, [event(A, 1, [changed(row, 1), closed(row, 1)])])
    seen = await index.lexical(where(closed_too=True), [["river"]], 9), await index.fetch(A, 9, [row.id])
    await index.write(A, first)
    await index.write(A, [event(A, 1, [changed(row, 1), closed(row, 1)])])
    assert (await index.lexical(where(closed_too=True), [["river"]], 9), await index.fetch(A, 9, [row.id])) == seen
    assert await index.matching(where(as_of=9), 9) != []
    assert row.id not in ids(await index.matching(where(as_of=9), 9))
    assert await index.watermark(A) == 1


async def test_a_record_and_its_closing_can_come_together(index: Index) -> None:
    row = record(A, 0)
    await index.write(A, [event(A, 0, [row], [(row, vector(1))]), event(A, 1, [closed(row, 1), left(row, 1)])])
    assert [(hit.until, hit.left) for hit in await index.fetch(A, 1, [row.id])] == [(1, 1)]
    assert await index.nearest(where(as_of=1), [vector(1)], 3) == [[]]


async def test_the_watermark_is_of_the_space_and_only_rises(index: Index) -> None:
    assert await index.watermark(A) == -1
    await index.write(A, [event(A, 0), event(A, 1)])
    await index.write(A, [event(A, 0)])
    await index.write(A, [])
    assert (await index.watermark(A), await index.watermark(B)) == (1, -1)


async def test_a_refused_batch_leaves_nothing_behind(index: Index) -> None:
    good, missing, stranger = record(A, 0), record(A, 9), record(B, 0)
    await write(index, stranger)
    bad = {
        missing.id: event(A, 1, [closed(missing, 1)]),
        stranger.id: event(A, 1, [closed(stranger, 1).model_copy(update={"space": A})]),
        "another space": event(A, 1, [stranger]),
        "bytes": event(A, 1, [record(A, 1)], [(record(A, 1), b"\1")]),
        "vector": event(A, 1, [], [(record(A, 1), vector(1))]),
        "(?i)uuid": event(A, 1, [record(A, 1, id="not a uuid")]),
    }
    for reason, refused in bad.items():
        with pytest.raises(ValueError, match=reason):
            await index.write(A, [event(A, 0, [good]), refused])
        assert (await index.watermark(A), await index.fetch(A, 9, [good.id])) == (-1, [])
    assert [hit.until for hit in await index.fetch(B, 9, [stranger.id])] == [OPEN]


async def test_another_space_sees_nothing(index: Index) -> None:
    await write(index, record(A, 0, "secret"), record(A, 0, "open", ordinal=1), vectors=[vector(1)])
    asked = where(B, kinds=EVERY)
    assert await index.nearest(asked, [vector(1)], 5) == await index.lexical(asked, [["secret"]], 5) == [[]]
    assert await index.dense(asked, vector(1), 5) == await index.sparse(asked, ["secret"], 5) == []
    assert await index.matching(asked, 5) == []


async def test_a_closed_index_is_unavailable(opener: Opener) -> None:
    index = await opener()
    await close_index(index)
    for call in (index.watermark(A), index.matching(where(), 1), index.nearest(where(), [vector(1)], 1)):
        with pytest.raises(Unavailable, match="closed"):
            await call
    with pytest.raises(Unavailable, match="closed"):
        await write(index, record(A, 0))


async def test_what_was_written_is_there_after_reopening(opener: Opener, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.params["opener"] == "memory":
        request.applymarker(pytest.mark.xfail(strict=True, reason="a list in memory is gone with its process"))
    index = await opener()
    rows = [record(A, 0, "river"), record(A, 0, "stone", ordinal=1)]
    await write(index, *rows, vectors=[vector(3), vector(4)])
    await index.write(A, [event(A, 1, [closed(rows[1], 1)])])
    seen = await index.lexical(where(as_of=0), [["river"], ["stone"]], 5)
    await close_index(index)
    index = await opener()
    try:
        assert await index.watermark(A) == 1
        assert await index.lexical(where(as_of=0), [["river"], ["stone"]], 5) == seen
        assert ids(await index.dense(where(), vector(1), 5)) == [rows[0].id]
    finally:
        await close_index(index)
