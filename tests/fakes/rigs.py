"""Rigs: of odd echo stages, of the real ones on an index in plain Python, of the real ones on the real index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event

from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex
from infra.qdrant.shard import Shard
from infra.qdrant.watermarks import Watermarks
from infra.stages import topology
from schemas.memory import RecordKind
from schemas.space import Space
from stages.ports import Filter
from stages.text.tokens import tokens
from tests.fakes import runtime
from tests.fakes.dialogues import LIMIT
from tests.fakes.disturbed import Fate, Way
from tests.fakes.folders import quick_folder
from tests.fakes.index import MemoryIndex
from tests.fakes.odd_stages import odd_topology
from tests.fakes.rig import Process, Rig, outliving
from tests.fakes.sent import Sent

ASKED = ("Where does Mia live?", "the flight to Oslo on Monday", "a book about salt", "Kaga Loft", "\u6771\u4eac")
_MANY = 1000


def odd_rig(folder: Path) -> Rig:
    """Return a rig of echo stages that refuse and crash where a text says so."""
    index = runtime.MemoryIndex()
    return Rig(folder, outliving(odd_topology, index), lambda space: index.rows.get(space, {}))


def real_rig(folder: Path) -> Rig:
    """Return a rig of the five stages; its index outlives the processes."""
    embedder = HashEmbedder()
    index = MemoryIndex(embedder.dimension)
    opened = outliving(lambda: topology(embedder, index, LIMIT), index)
    return Rig(folder, opened, lambda space: (index.records.get(space, {}), index.watermarks.get(space, -1)))


def edge_rig(folder: Path) -> Rig:
    """Return a rig of the five stages whose processes open the index in their home."""
    return Rig(folder, _opened)


async def check_each_as_alone(
    make: Callable[[Path], Rig],
    logs: Mapping[str, Sequence[Sent]],
    mixed: Sequence[Sent],
    runs: Sequence[tuple[int, Way]],
    last: Way,
) -> int:
    """Live ``mixed`` disturbed, and each space's own log alone: every space must end as it does alone.

    Returns how many of the runs died: a test whose runs all live shows little.
    """
    with quick_folder() as folder:
        disturbed = make(folder / "disturbed")
        await disturbed.live(mixed, runs, last)
        event(f"deaths: {disturbed.deaths}")
        for n, (space, log) in enumerate(logs.items()):
            alone = make(folder / f"alone-{n}")
            await alone.live(log)
            assert disturbed.fortune(space) == alone.fortune(space)
        return disturbed.deaths


def must_have_died(deaths: Sequence[int]) -> None:
    """Fail if fewer than a third of the examples that were tried had a run that died."""
    if not deaths:
        pytest.skip("the tests that note deaths did not run")
    assert 3 * sum(map(bool, deaths)) >= len(deaths), deaths


@asynccontextmanager
async def _opened(home: Path, fate: Fate) -> AsyncIterator[Process]:
    embedder, index = HashEmbedder(), _index(home)
    try:
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((Shard, "update"), (Watermarks, "rise")):
                patch.setattr(owner, name, fate.around(getattr(owner, name)))
            patch.setattr(EdgeIndex, "_durable", _flushing(EdgeIndex._durable, fate))
            yield topology(embedder, index, LIMIT), index
    finally:
        await index.close()


def _index(home: Path) -> EdgeIndex:
    embedder = HashEmbedder()
    return EdgeIndex.open(home / "index", generation=1, model=embedder.model, dimension=embedder.dimension)


def _flushing(flush: Callable[[EdgeIndex], Any], fate: Fate) -> Callable[[EdgeIndex], Any]:
    @wraps(flush)
    async def wrapped(index: EdgeIndex) -> None:
        fate.step()
        await flush(index)
        fate.step()

    return wrapped


async def found(rig: Rig, space: Space) -> list[Any]:
    """Return all that can be read of a space in the index, now and as of every tenth position, and its watermark."""
    index, embedder = _index(rig.home), HashEmbedder()
    try:
        vectors, words = await embedder.embed(ASKED), [tokens(text) for text in ASKED]
        last = await index.watermark(space)
        read: list[Any] = [last]
        for as_of in (*range(0, last, 10), last):
            where = Filter(space, as_of, frozenset(RecordKind), closed_too=True)
            read += [await index.matching(where, _MANY), await index.nearest(where, vectors, 20)]
            read += [await index.lexical(where, words, 20), await index.sparse(where, words[1], 20)]
        return read
    finally:
        await index.close()
