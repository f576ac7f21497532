"""Invariant 6: nothing that a stage could read changes under it.

The check takes down what memory and the real index say as of some positions, lets the space live on and asks again.
Among the stages is one that writes an old record once more in other words, and closes a closed one again. A second
check asks about records that later are marked: as changed, and as gone from working memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from qdrant_edge import FieldCondition, RangeFloat

from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex, columns, conditions, edge, points, residents
from infra.qdrant import reads as edge_reads
from infra.qdrant.batch import Batch
from schemas.memory import OPEN, ClosedRow, RecordRow, row_key
from schemas.routed import RecordVector, Routed
from schemas.space import Space
from stages.contract import Emit
from stages.ports import Embedder, Filter, Found
from stages.route import Route
from stages.text.tokens import tokens
from streams.codec import canonical
from streams.records import Records
from streams.topology import Topology
from tests.fakes.folders import quick_folder
from tests.fakes.index_suite import Index
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.narrow import narrow
from tests.fakes.real_home import ALL_KINDS, SPACE, RealHome, said, story, wired

MEDDLE = "meddle"
POSITIONS = (3, 5, 15)

MOODS = ("I love jazz.", "I prefer tea.", "I don't like jazz any more.", "My favourite colour is red.")
BATCH = 6
"""Turns after which memory is asked; each batch moves some out of working memory, where changes are noticed."""


@dataclass
class Meddler:
    """Wires the real stages, but ``route`` writes the first record and the first closing of all again at one turn."""

    records: list[RecordRow] = field(default_factory=list)
    closed: list[ClosedRow] = field(default_factory=list)

    def wire(self, embedder: Embedder, index: Index) -> Topology:
        meddler = self

        class Meddling(Route):
            async def decide(self, message: Any, state: Any) -> Any:
                outcome = await Route.decide(self, message, state)
                assert isinstance(outcome, Emit)
                return Emit(meddler.meddled(outcome.message), outcome.state)

        nodes = wired(embedder, index).nodes
        stage = Meddling(index, embedder.model)
        return Topology(tuple(replace(node, stage=stage) if node.name == "route" else node for node in nodes))

    def meddled(self, routed: Routed) -> Routed:
        self.records += [row for row in routed.rows if isinstance(row, RecordRow)]
        self.closed += [row for row in routed.rows if isinstance(row, ClosedRow)]
        if routed.header.event_id != MEDDLE:
            return routed
        record = self.records[0].model_copy(update={"text": "I never said that."})
        closing = self.closed[0].model_copy(update={"until": routed.header.position, "successor": record.id})
        vector = RecordVector(record_id=record.id, vector=bytes(HashEmbedder().dimension))
        rows, vectors = (*routed.rows, record, closing), (*routed.vectors, vector)
        return routed.model_copy(update={"rows": rows, "vectors": vectors})


@contextmanager
def home_on_edge(meddler: Meddler) -> Iterator[RealHome]:
    """A home whose index is the real engine."""
    with quick_folder() as folder:
        embedder = HashEmbedder()
        index = EdgeIndex.open(folder / "index", generation=1, model=embedder.model, dimension=embedder.dimension)
        yield RealHome(folder, index, embedder, meddler.wire)


async def check() -> None:
    """Every row keeps its bytes, and every question as of a position its answer."""
    meddler = Meddler()
    with home_on_edge(meddler) as home:
        await home.tell(story(16))
        assert meddler.closed, "nothing was closed, so nothing can be reopened or moved"
        rows, told = home.memory(), [await answers(home, position) for position in POSITIONS]
        revised = said("t6", "Yesterday I bought 60 herrings at the harbour.", minutes=5000, revision=1)
        await home.tell([said(MEDDLE, "I love jazz.", minutes=4000), revised, *story(8, first=16)])
        assert set(rows) <= set(home.memory()), "a row of memory changed"
        assert [await answers(home, position) for position in POSITIONS] == told, "the past reads otherwise now"
        assert isinstance(home.index, EdgeIndex)
        await home.index.close()


async def check_marks() -> None:
    """A mark is there from its position on, and as of an earlier one it never was."""
    with pytest.MonkeyPatch.context() as patch, home_on_edge(Meddler()) as home:
        narrow(patch)
        told: dict[int, list[Any]] = {}
        for first in range(0, 3 * BATCH, BATCH):
            await home.tell(moods(first))
            told |= {position: await answers(home, position) for position in (first + 3, first + BATCH - 1)}
        marked = [found for found in await home.indexed() if found.record.since < BATCH]
        assert any(found.changed for found in marked), "nothing was changed, so no mark can show too early"
        assert any(found.left is not None for found in marked), "nothing left working memory"
        assert {position: await answers(home, position) for position in told} == told, "the past reads otherwise now"
        assert isinstance(home.index, EdgeIndex)
        await home.index.close()


def moods(first: int) -> list[bytes]:
    """Return a batch of turns of somebody who loves and prefers now this, now that."""
    return [said(f"t{n}", MOODS[n % len(MOODS)], minutes=100 * n) for n in range(first, first + BATCH)]


async def answers(home: RealHome, as_of: int) -> list[Any]:
    """What a stage can read as of a position: all records, the default search by sense and words, those closed."""
    embedder = HashEmbedder()
    here = Filter(Space(SPACE), as_of, ALL_KINDS)
    text = "Thursday dentist appointment"
    return [
        await home.indexed(as_of=as_of),
        await home.index.nearest(here, await embedder.embed([text]), 50),
        await home.index.lexical(here, [tokens(text), ["herrings"]], 50),
        await home.index.matching(here, 500),
    ]


async def test_what_could_be_read_stays_as_it_was() -> None:
    await check()


async def test_marks_show_from_their_position_on() -> None:
    await check_marks()


def replaced(patch: pytest.MonkeyPatch) -> None:
    def write(records: Records, cut: Any) -> None:
        rows = [(cut.space, row_key(row), canonical(row)) for event in cut.committed for row in event.rows]
        records._db.executemany("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", rows)

    patch.setattr(Records, "write_memory", write)


def written_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EdgeIndex, "_is_fresh", lambda *_: True)


def moved(patch: pytest.MonkeyPatch) -> None:
    def changes(batch: Batch, fresh: set[str], held: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        for record_id in batch.marks.keys() - fresh:
            yield record_id, batch.marks[record_id].changes(held[record_id] | {"until": OPEN})

    patch.setattr(edge, "_changes", changes)


def closed_for_all_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(edge_reads, "found", lambda row, content, _as_of, score=0: points.found(row, content, OPEN, score))


def not_found_any_more(patch: pytest.MonkeyPatch) -> None:
    of_space = conditions._conditions

    def stricter(where: Filter) -> Iterator[FieldCondition]:
        yield from of_space(where)
        if not where.closed_too:
            yield FieldCondition("until", range=RangeFloat(gte=OPEN))

    patch.setattr(conditions, "_conditions", stricter)
    patch.setattr(residents, "WORTH", OPEN)  # no vectors in memory: the engine is asked


def not_searched_any_more(patch: pytest.MonkeyPatch) -> None:
    selected = columns.Column.selected

    def later(column: columns.Column, *asked: Any, closed_too: bool) -> Any:
        rows = selected(column, *asked, closed_too=closed_too)
        return rows if closed_too else rows[[column._until[row] == OPEN for row in rows]]

    patch.setattr(columns.Column, "selected", later)


@each(
    Mutation("memory replaces rows instead of ignoring", replaced, "a row of memory changed"),
    Mutation("the index writes over a record", written_over, "the past reads otherwise now"),
    Mutation("a later closing moves the first", moved, "the past reads otherwise now"),
    Mutation("a closing shows before its position", closed_for_all_time, "the past reads otherwise now"),
    Mutation("what is closed now is not found as of then", not_found_any_more, "the past reads otherwise now"),
    Mutation("what is closed now is not searched as of then", not_searched_any_more, "the past reads otherwise now"),
)
async def test_a_change_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check()


def for_all_time(mark: str) -> Install:
    """Let a mark of a record be shown as of every position."""

    def found(row: RecordRow, content: points.Payload, as_of: int, score: int = 0) -> Found:
        known = points.found(row, content, OPEN, score)
        return replace(points.found(row, content, as_of, score), **{mark: getattr(known, mark)})

    return lambda patch: patch.setattr(edge_reads, "found", found)


@each(
    Mutation("a change shows before its position", for_all_time("changed"), "the past reads otherwise now"),
    Mutation("a record has left before its position", for_all_time("left"), "the past reads otherwise now"),
)
async def test_an_early_mark_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_marks()
