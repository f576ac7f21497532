"""Any history of writes, asked anything: the engine answers as the plain implementation does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.qdrant import EdgeIndex, columns, residents
from schemas.committed import Committed
from schemas.memory import RecordKind, RecordRow, Row
from schemas.space import Space
from stages.ports import Filter
from tests.fakes.folders import quick_folder
from tests.fakes.index import MemoryIndex
from tests.fakes.index_rows import changed, closed, event, key, left, record

SIZE = 3
KINDS = (RecordKind.TURN, RecordKind.WINDOW, RecordKind.FACT)
WORDS = ("river", "stone", "cloud", "東京")
spaces = count()


@pytest.fixture(scope="module", params=[0, 10**9], ids=["all in memory", "vectors asked of the engine"])
def edge(request: pytest.FixtureRequest) -> Iterator[EdgeIndex]:
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(residents, "WORTH", request.param)
        patch.setattr(columns, "COMMON", request.param)
        index = EdgeIndex.open(folder, generation=1, model="test", dimension=SIZE)
        yield index
        asyncio.run(index.close())


words = st.lists(st.sampled_from(WORDS), max_size=4)
vectors = st.lists(st.integers(-2, 2), min_size=SIZE, max_size=SIZE).map(lambda v: np.array(v, np.int8).tobytes())
owners = st.sampled_from(["mia", "bo", None])
new_records = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS),
        "text": words.map(" ".join),
        "owner": owners,
        "branch": st.none() | st.integers(0, 2),
        "key": st.none() | st.builds(key, st.sampled_from(["diet", "job"]), st.sampled_from(["Rex", None])),
        "vector": st.none() | vectors,
    }
)
marks = st.tuples(st.sampled_from([closed, left, changed]), st.integers(0, 10**6))
histories = st.lists(st.tuples(st.lists(new_records, max_size=3), st.lists(marks, max_size=2)), min_size=1, max_size=5)
narrowings = st.fixed_dictionaries(
    {"kinds": st.frozensets(st.sampled_from(KINDS)), "as_of": st.integers(-1, 6), "closed_too": st.booleans()},
    optional={
        "owners": st.frozensets(owners.filter(bool)),
        "turn_ids": st.frozensets(st.sampled_from(["t0", "t1", "t2"])),
        "branches": st.frozensets(st.integers(0, 2)),
        "key_attribute": st.sampled_from(["diet", "job"]),
        "key_subject": st.just("Rex"),
    },
)


def events(space: Space, history: list[tuple[list[dict[str, Any]], list[tuple[Any, int]]]]) -> list[Committed]:
    known: list[RecordRow] = []
    made = []
    for position, (drawn, marked) in enumerate(history):
        given_vectors = []
        rows: list[Row] = []
        for ordinal, fields in enumerate(drawn):
            vector = fields["vector"]
            row = record(space, position, ordinal=ordinal, **{k: v for k, v in fields.items() if k != "vector"})
            rows.append(row)
            if vector is not None:
                given_vectors.append((row, vector))
        known.extend(row for row in rows if isinstance(row, RecordRow))
        rows.extend(mark(known[chosen % len(known)], position) for mark, chosen in marked if known)
        made.append(event(space, position, rows, given_vectors))
    return made


questions = st.fixed_dictionaries(
    {
        "narrowings": st.lists(narrowings, min_size=1, max_size=3),
        "queries": st.lists(words, max_size=2),
        "vector": vectors,
        "limit": st.integers(1, 4),
    }
)


@settings(max_examples=60, deadline=None)
@given(history=histories, asked=questions)
def test_the_engine_and_the_plain_index_agree(
    edge: EdgeIndex, history: list[tuple[list[dict[str, Any]], list[tuple[Any, int]]]], asked: dict[str, Any]
) -> None:
    asyncio.run(_compare(edge, events(Space(f"acme/{next(spaces)}"), history), asked))


async def _compare(edge: EdgeIndex, made: list[Committed], asked: dict[str, Any]) -> None:
    space, plain = made[0].header.space, MemoryIndex(SIZE)
    await _write_both(edge, plain, made)
    ids = [row.id for one in made for row in one.rows if isinstance(row, RecordRow)]
    vector, limit, queries = asked["vector"], asked["limit"], asked["queries"]
    assert await edge.watermark(space) == await plain.watermark(space) == len(made) - 1
    for where in (Filter(space, **fields) for fields in asked["narrowings"]):
        assert await edge.nearest(where, [vector], limit) == await plain.nearest(where, [vector], limit)
        assert await edge.lexical(where, queries, limit) == await plain.lexical(where, queries, limit)
        assert await edge.dense(where, vector, limit) == await plain.dense(where, vector, limit)
        assert await edge.sparse(where, list(WORDS), limit) == await plain.sparse(where, list(WORDS), limit)
        assert await edge.matching(where, limit) == await plain.matching(where, limit)
        assert await edge.fetch(space, where.as_of, ids) == await plain.fetch(space, where.as_of, ids)


async def _write_both(edge: EdgeIndex, plain: MemoryIndex, made: list[Committed]) -> None:
    space, half = made[0].header.space, len(made) // 2
    for index in (edge, plain):
        await index.write(space, made[:half])
        await index.nearest(Filter(space, 9, frozenset(KINDS)), [bytes(SIZE)], 1)  # the space is in memory from here
        await index.write(space, made[half:])
        await index.write(space, made[:1])  # a repeat
