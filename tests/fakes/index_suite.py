"""What the contract suites of an index share: the implementations, and words to ask them with.

Another implementation is an entry of ``FACTORIES`` (or of the fixture, if it needs more than a folder) and a case of
``close_index``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from qdrant_client import QdrantClient

from infra.qdrant import EdgeIndex
from infra.qdrant.process import Address
from infra.qdrant.server import ServerIndex
from schemas.memory import RecordKind, RecordRow
from schemas.space import Space
from stages.ports import Filter, Found, History, IndexWriter, Match, Search
from tests.fakes.index import MemoryIndex
from tests.fakes.index_rows import event

SIZE = 8
A, B = Space("acme/a"), Space("acme/b")
TURN = frozenset({RecordKind.TURN})
EVERY = frozenset(RecordKind)


class Index(History, Search, IndexWriter, Protocol):
    """All three ports on one store."""


Opener = Callable[[], Awaitable[Index]]


async def close_index(index: Index) -> None:
    match index:
        case EdgeIndex() | ServerIndex():
            await index.close()
        case MemoryIndex():
            index.closed = True
        case _:
            pytest.fail(f"how is {type(index).__name__} closed?")


def _edge(folder: Path) -> Opener:
    async def opened() -> Index:
        return EdgeIndex.open(folder, generation=1, model="test", dimension=SIZE)

    return opened


def _memory(_folder: Path) -> Opener:
    async def opened() -> Index:
        return MemoryIndex(SIZE)

    return opened


_names = count()


@contextmanager
def fresh_alias(address: Address) -> Iterator[str]:
    """Name an index that no test has had, at a server that other runs may have used too; it is dropped in the end."""
    alias = f"test-{os.getpid()}-{time.time_ns()}-{next(_names)}"
    yield alias
    client = QdrantClient(url=address.url, check_compatibility=False)
    for known in client.get_aliases().aliases:
        if known.alias_name == alias:
            client.delete_collection(known.collection_name)
    client.close()


def server_index(address: Address, alias: str, *, over_rest: bool = False) -> Opener:
    """Return what opens one index at a server, again and again."""

    async def opened() -> Index:
        return await open_server(address, alias, over_rest=over_rest)

    return opened


async def open_server(address: Address, alias: str, *, over_rest: bool = False) -> ServerIndex:
    port = None if over_rest else address.grpc_port
    return await ServerIndex.open(address.url, generation=1, model="test", dimension=SIZE, alias=alias, grpc_port=port)


FACTORIES: dict[str, Callable[[Path], Opener]] = {"edge": _edge, "memory": _memory}


def vector(*head: int) -> bytes:
    return np.array([*head, *[0] * (SIZE - len(head))], dtype=np.int8).tobytes()


def where(space: Space = A, as_of: int = 100, kinds: frozenset[RecordKind] = TURN, **narrow: object) -> Filter:
    return Filter(space, as_of, kinds, **narrow)  # type: ignore[arg-type]  # a table gives the fields by name


async def write(index: Index, *rows: RecordRow, at: int = 0, vectors: Sequence[bytes] = ()) -> None:
    space = rows[0].space
    await index.write(space, [event(space, at, rows, list(zip(rows, vectors, strict=False)))])


def ids(hits: Sequence[Found] | Sequence[Match]) -> list[str]:
    return [hit.record.id if isinstance(hit, Found) else hit.record_id for hit in hits]


def scores(hits: Sequence[Found] | Sequence[Match]) -> list[int]:
    return [hit.score for hit in hits]
