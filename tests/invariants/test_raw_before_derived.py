"""Invariant 9: a record never gives way to another before that one can be read.

The check lets the real index break off before each operation of the engine in turn, as a process that is killed leaves
it, and looks then at what readers may see (as of the watermark), and whether the turns that are there are there whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from infra import stages as wiring
from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex, edge, points
from infra.qdrant import reads as edge_reads
from infra.qdrant.shard import Shard
from infra.qdrant.watermarks import Watermarks
from schemas.memory import OPEN, ClosedRow, RecordKind, RecordRow
from schemas.space import Space
from stages.commit import Commit
from stages.contract import Emit
from tests.fakes.folders import quick_folder
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.real_home import EVER, SPACE, RealHome, said
from tests.fakes.runtime import Died

LOG = [
    said("t0", "My flight is on Monday at nine."),
    said("t1", "No, I said my flight is on Tuesday at nine.", minutes=5),
    said("t2", "I own a cello.", minutes=9),
    said("t2", "I own a red piano.", minutes=12, revision=1),
    said("t3", "Thanks.", minutes=14),
]


@dataclass
class Breaking:
    """Ends the process before the ``left``-th operation of the engine or of the watermark."""

    left: int

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for owner, name in ((Shard, "update"), (Shard, "flush"), (Watermarks, "rise")):
            patch.setattr(owner, name, self._wrap(getattr(owner, name)))

    def _wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise Died
            return call(*given)

        return wrapped


@asynccontextmanager
async def home_on_edge() -> AsyncIterator[RealHome]:
    with quick_folder() as folder:
        embedder = HashEmbedder()
        index = EdgeIndex.open(folder / "index", generation=1, model=embedder.model, dimension=embedder.dimension)
        yield RealHome(folder, index, embedder)
        await index.close()


async def check() -> None:
    """Wherever the index breaks off, nothing has given way to what is not there."""
    broken = 0
    async with home_on_edge() as home:
        for event in LOG:
            home.publish([event])
            moment = 1
            while await breaks_off(home, moment):
                await standing(home)
                moment += 1
            await standing(home)
            broken += moment - 1
        ended = await home.indexed()
    assert broken > 15, "the index hardly broke off"
    assert sum(found.until != OPEN and found.successor is not None for found in ended) >= 2, "nothing gave way"


async def breaks_off(home: RealHome, moment: int) -> bool:
    """Process what is pending; tell whether that came to an end before the ``moment``-th operation."""
    with pytest.MonkeyPatch.context() as patch:
        Breaking(moment).install(patch)
        try:
            await home.run()
        except Died:
            return True
    return False


async def standing(home: RealHome) -> None:
    """Look at the index as it lies there."""
    watermark = await home.index.watermark(Space(SPACE))
    visible = {found.record.id: found for found in await home.indexed(as_of=watermark)}
    due = {record.id for record in home.records() if record.since <= watermark}
    assert due <= visible.keys(), "the watermark vouches for records that are not there"
    for found in visible.values():
        gone = found.until != OPEN or found.changed is not None
        successor = found.changed[1] if found.changed else found.successor
        assert not gone or successor is None or successor in visible, "a record gave way to one that is not there"
    there = {found.record.id: found.record for found in await home.indexed(as_of=EVER)}
    whole = {record.since for record in there.values() if record.kind is RecordKind.TURN}
    missing = {record.since for record in home.records() if record.id not in there}
    assert not whole & missing, "a turn is there in part"


async def test_nothing_gives_way_to_what_is_not_there() -> None:
    await check()


def vouched_first(patch: pytest.MonkeyPatch) -> None:
    write = EdgeIndex.write

    async def written(index: EdgeIndex, space: Space, batch: Sequence[Any]) -> None:
        index._watermarks.rise(space, max(event.header.position for event in batch))
        await write(index, space, batch)

    patch.setattr(EdgeIndex, "write", written)


def turns_first(patch: pytest.MonkeyPatch) -> None:
    """Windows come last, as turns should."""
    patch.setattr(edge, "RecordKind", SimpleNamespace(TURN=RecordKind.WINDOW))


def closed_at_once(patch: pytest.MonkeyPatch) -> None:
    """Closings show as soon as they are written, which is before the turns that they make room for."""
    patch.setattr(edge_reads, "found", lambda row, content, _as_of, score=0: points.found(row, content, EVER, score))


def successors(*, come: bool) -> Install:
    """Let commit hold the successors of an event back; they ``come`` with the next one, or never."""
    held: dict[int, list[RecordRow]] = {}

    class Late(Commit):
        async def decide(self, message: Any, state: Any) -> Any:
            outcome = await Commit.decide(self, message, state)
            assert isinstance(outcome, Emit)
            event, position = outcome.message, message.header.position
            names = {row.successor for row in event.rows if isinstance(row, ClosedRow)}
            held[position] = [row for row in event.rows if isinstance(row, RecordRow) and row.id in names]
            late = held.get(position - 1, []) if come else []
            rows = (*late, *(row for row in event.rows if row not in held[position]))
            vectors = tuple(one for one in event.vectors if one.record_id not in names)
            return Emit(event.model_copy(update={"rows": rows, "vectors": vectors}), outcome.state)

    return lambda patch: patch.setattr(wiring, "Commit", Late)


GIVEN_WAY = "a record gave way to one that is not there"


@each(
    Mutation("the watermark rises first", vouched_first, "the watermark vouches for records that are not there"),
    Mutation("turns are written before what was taken from them", turns_first, "a turn is there in part"),
    Mutation("closings show as soon as they are written", closed_at_once, GIVEN_WAY),
    Mutation("a successor comes an event after the closing", successors(come=True), GIVEN_WAY),
    Mutation("a successor never comes", successors(come=False), GIVEN_WAY),
)
async def test_giving_way_early_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check()
