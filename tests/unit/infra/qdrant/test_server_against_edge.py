"""The server answers as the embedded engine does, number for number, on a corpus drawn by chance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest

from infra.qdrant import EdgeIndex
from infra.qdrant.process import Address
from schemas.committed import Committed
from schemas.memory import RecordKind, RecordRow, Row
from stages.ports import Filter
from tests.fakes.index_rows import changed, closed, event, key, left, record
from tests.fakes.index_suite import SIZE, A, Index, fresh_alias, open_server

EVENTS = 40
KINDS = (RecordKind.TURN, RecordKind.WINDOW, RecordKind.FACT)
WORDS = ("river", "stone", "cloud", "東京", "köln", "tea", "rust", "fox")

MARKS: tuple[Callable[[RecordRow, int], Row], ...] = (closed, left, changed)


@asynccontextmanager
async def both(address: Address, folder: Path, *, over_rest: bool) -> AsyncIterator[tuple[EdgeIndex, Index]]:
    edge = EdgeIndex.open(folder, generation=1, model="test", dimension=SIZE)
    with fresh_alias(address) as alias:
        server = await open_server(address, alias, over_rest=over_rest)
        yield edge, server
        await server.close()
    await edge.close()


def drawn_vector(chance: Random) -> bytes:
    return np.array([chance.randint(-3, 3) for _ in range(SIZE)], np.int8).tobytes()


def drawn_record(chance: Random, position: int, ordinal: int) -> RecordRow:
    return record(
        A,
        position,
        " ".join(chance.choices(WORDS, k=chance.randint(0, 6))),
        ordinal,
        kind=chance.choice(KINDS),
        owner=chance.choice(["mia", "bo", None]),
        branch=chance.choice([0, 1, None]),
        key=chance.choice([None, key("diet", "Rex"), key("job")]),
        provenance=(f"t{position}", f"t{max(0, position - 1)}"),
    )


def drawn_events(chance: Random) -> list[Committed]:
    known: list[RecordRow] = []
    made = []
    for position in range(EVENTS):
        rows = [drawn_record(chance, position, ordinal) for ordinal in range(chance.randint(0, 12))]
        known.extend(rows)
        marks: list[Row] = [
            chance.choice(MARKS)(chance.choice(known), position) for _ in range(chance.randint(0, 3)) if known
        ]
        given = [(row, drawn_vector(chance)) for row in rows if chance.random() < 0.8]
        made.append(event(A, position, [*rows, *marks], given))
    return made


def drawn_filter(chance: Random) -> Filter:
    def maybe(values: list[str]) -> frozenset[str] | None:
        return frozenset(chance.sample(values, chance.randint(0, 2))) if chance.random() < 0.3 else None

    return Filter(
        A,
        chance.choice([EVENTS - 1, EVENTS + 60, chance.randint(-1, EVENTS)]),
        frozenset(chance.sample(KINDS, chance.randint(1, 3))),
        owners=maybe(["mia", "bo"]),
        turn_ids=maybe(["t1", "t7", "t30"]),
        key_attribute="diet" if chance.random() < 0.2 else None,
        branches=frozenset({0}) if chance.random() < 0.2 else None,
        closed_too=chance.random() < 0.3,
    )


async def agree(edge: EdgeIndex, server: Index, chance: Random, ids: list[str]) -> int:
    """Ask both the same; return how many results there were, so that a test of nothing is seen."""
    where, limit = drawn_filter(chance), chance.randint(0, 12)
    vectors = [drawn_vector(chance) for _ in range(chance.randint(1, 3))]
    queries = [chance.choices([*WORDS, "unseen"], k=chance.randint(0, 4)) for _ in range(chance.randint(1, 3))]
    some = chance.sample(ids, min(9, len(ids)))
    near, words = await edge.nearest(where, vectors, limit), await edge.lexical(where, queries, limit)
    newest, fetched = await edge.matching(where, limit), await edge.fetch(A, where.as_of, some)
    dense, sparse = await edge.dense(where, vectors[0], limit), await edge.sparse(where, queries[0], limit)
    assert await server.nearest(where, vectors, limit) == near
    assert await server.lexical(where, queries, limit) == words
    assert await server.matching(where, limit) == newest
    assert await server.fetch(A, where.as_of, some) == fetched
    assert await server.dense(where, vectors[0], limit) == dense
    assert await server.sparse(where, queries[0], limit) == sparse
    return sum(map(len, (*near, *words, newest, fetched))) + len(dense) + len(sparse)


@pytest.mark.parametrize("over_rest", [False, True], ids=["grpc", "rest"])
async def test_the_server_answers_as_the_embedded_engine(
    address: Address,
    tmp_path: Path,
    over_rest: bool,  # noqa: FBT001 - a table's column
) -> None:
    chance = Random(5 + over_rest)
    made = drawn_events(chance)
    ids = [row.id for one in made for row in one.rows if isinstance(row, RecordRow)]
    seen = 0
    async with both(address, tmp_path, over_rest=over_rest) as (edge, server):
        for start in range(0, EVENTS, 8):
            for index in (edge, server):
                await index.write(A, made[start : start + 8])
            for _ in range(20):
                seen += await agree(edge, server, chance, ids)
        for index in (edge, server):
            await index.write(A, made[:9])  # a repeat
        for _ in range(20):
            seen += await agree(edge, server, chance, ids)
    assert len(ids) > 150
    assert seen > 1000
