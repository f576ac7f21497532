"""What one process writes, another sees, though it has read before and keeps what cannot change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from infra.qdrant.process import Address
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_calls import Server
from infra.qdrant.server_watermarks import watermark_id
from schemas.memory import OPEN, RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from tests.fakes.index_rows import changed, closed, event, left, record
from tests.fakes.index_suite import EVERY, SIZE, A, B, fresh_alias, ids, open_server, scores, vector, where, write


@pytest.fixture
async def pair(address: Address) -> AsyncIterator[tuple[ServerIndex, ServerIndex]]:
    async with AsyncExitStack() as stack:
        alias = stack.enter_context(fresh_alias(address))
        writer, reader = [await open_server(address, alias) for _ in range(2)]
        for one in (writer, reader):
            stack.push_async_callback(one.close)
        yield writer, reader


async def test_marks_of_another_process_are_seen_in_every_read(pair: tuple[ServerIndex, ServerIndex]) -> None:
    writer, reader = pair
    row, rest = record(A, 0, "river"), record(A, 0, "stone", ordinal=1)
    await write(writer, row, rest, vectors=[vector(1)])
    asked = where(closed_too=True)

    async def told() -> list[tuple[int, object, object]]:
        [near], [words] = await reader.nearest(asked, [vector(1)], 1), await reader.lexical(asked, [["river"]], 1)
        newest = [hit for hit in await reader.matching(asked, 9) if hit.record == row]
        fetched = await reader.fetch(A, 9, [row.id])
        return [(hit.until, hit.changed, hit.left) for hits in (near, words, newest, fetched) for hit in hits]

    assert await told() == [(OPEN, None, None)] * 4
    await writer.write(A, [event(A, 1, [left(row, 1), changed(row, 1)])])
    assert await told() == [(OPEN, (1, "new"), 1)] * 4
    await writer.write(A, [event(A, 2, [closed(row, 2)])])
    assert await told() == [(2, (1, "new"), 1)] * 4
    assert row.id not in ids(await reader.dense(where(), vector(1), 9))


async def test_word_statistics_grow_with_what_others_write(pair: tuple[ServerIndex, ServerIndex]) -> None:
    writer, reader = pair
    await write(writer, record(A, 0, "blue whale"), record(A, 0, "red fox", ordinal=1))
    old = await reader.sparse(where(as_of=0), ["whale"], 9)
    for position in range(1, 4):
        texts = ["grey whale", "fox", "fox"]
        await write(writer, *(record(A, position, text, n) for n, text in enumerate(texts)), at=position)
        fresh = await writer.sparse(where(as_of=position), ["whale"], 9)
        assert await reader.sparse(where(as_of=position), ["whale"], 9) == fresh
        assert len(fresh) == position + 1
        assert await reader.sparse(where(as_of=0), ["whale"], 9) == old
        assert scores(fresh)[-1] != scores(old)[0]


async def test_half_of_a_write_is_counted_when_it_is_whole(
    pair: tuple[ServerIndex, ServerIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer dies after its facts; the reader looks beyond the watermark; then the write is done again."""
    writer, reader = pair
    both = where(as_of=9, kinds=frozenset({RecordKind.TURN, RecordKind.FACT}))
    await write(writer, record(A, 0, "tea"), record(A, 0, "fox", ordinal=1))
    rows = [record(A, 1, "tea", kind=RecordKind.FACT), record(A, 1, "tea"), record(A, 1, "fox", ordinal=1)]
    update = Server.update

    async def dies_after_the_first(server: Server, space: Space, operations: list[object]) -> None:
        await update(server, space, operations[:1])  # type: ignore[arg-type]  # as the client's own list
        msg = "the connection is lost"
        raise Unavailable(msg)

    with monkeypatch.context() as dying:
        dying.setattr(Server, "update", dies_after_the_first)
        with pytest.raises(Unavailable):
            await write(writer, *rows, at=1)
    assert await reader.watermark(A) == 0
    half = await reader.sparse(both, ["tea"], 9)
    await write(writer, *rows, at=1)
    whole = await reader.sparse(both, ["tea"], 9)
    assert (len(half), len(whole)) == (2, 3)
    assert whole == await writer.sparse(both, ["tea"], 9)
    [fresh] = {hit.score for hit in whole}
    assert fresh not in scores(half)


async def test_watermarks_are_asked_for_many_spaces_at_once(pair: tuple[ServerIndex, ServerIndex]) -> None:
    writer, reader = pair
    await writer.write(A, [event(A, 4)])
    await writer.write(B, [event(B, 2)])
    assert await reader.watermarks([B, Space("acme/none"), A, B]) == [2, -1, 4, 2]
    assert await reader.watermarks([]) == []


async def test_the_watermark_point_is_met_by_no_read(pair: tuple[ServerIndex, ServerIndex]) -> None:
    writer, reader = pair
    await writer.write(A, [event(A, 3)])
    asked = where(kinds=EVERY, as_of=OPEN, closed_too=True)
    assert await reader.matching(asked, 9) == []
    assert await reader.nearest(asked, [bytes(SIZE)], 9) == [[]]
    assert await reader.fetch(A, OPEN, [watermark_id(A)]) == []
    await write(writer, record(A, 4, "watermark"), at=4)
    assert len(await reader.matching(asked, 9)) == 1


async def test_a_closing_cannot_name_a_watermark_point(pair: tuple[ServerIndex, ServerIndex]) -> None:
    writer, _ = pair
    await writer.write(A, [event(A, 3)])
    row = record(A, 0, id=watermark_id(A))
    for bad in (event(A, 4, [closed(row, 4)]), event(A, 4, [row])):
        with pytest.raises(ValueError, match="watermark"):
            await writer.write(A, [bad])
    assert await writer.watermark(A) == 3
