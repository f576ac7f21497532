"""Invariant 10: tenancy is in the store layer; what another space holds moves nothing here.

The first check lets one space live alone and, in another home, beside a neighbour who says the same and more, and whose
turns are published here by mistake; both homes' real index is asked the same. The second lets a stage write a row of
another space, the third looks for a way to ask the index without naming a space.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, get_type_hints

import pytest
from qdrant_edge import FieldCondition
from qdrant_edge import Filter as EdgeFilter

from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex, batch, conditions, points, residents
from infra.qdrant import reads as edge_reads
from infra.qdrant.shard import SPARSE
from schemas.recall import Question
from schemas.space import Space
from stages.commit import Commit
from stages.contract import Emit, Unavailable
from stages.ports import Embedder, Filter
from stages.recall import Recall
from stages.route import Route
from stages.text.tokens import tokens
from streams import numbering
from streams.codec import peek
from streams.topology import Topology
from tests.fakes.folders import quick_folder
from tests.fakes.index_suite import Index
from tests.fakes.mutations import Mutation, each
from tests.fakes.real_home import ALL_KINDS, EVER, SPACE, RealHome, said, story, wired

HERE, NEIGHBOUR = Space(SPACE), Space("evil/u-9")
COUNT = 10


@asynccontextmanager
async def home_on_edge(wire: Callable[[Embedder, Index], Topology] = wired) -> AsyncIterator[RealHome]:
    with quick_folder() as folder:
        embedder = HashEmbedder()
        index = EdgeIndex.open(folder / "index", generation=1, model=embedder.model, dimension=embedder.dimension)
        yield RealHome(folder, index, embedder, wire)
        await index.close()


async def check_neighbour() -> None:
    """Beside a neighbour a space has the memory, the scores and the answers that it has alone."""
    mistaken = said("theirs", "I own the neighbour's cello.", NEIGHBOUR, minutes=9000)
    async with home_on_edge() as alone, home_on_edge() as beside:
        await alone.tell(story(COUNT))
        await beside.tell(story(COUNT + 8, NEIGHBOUR), NEIGHBOUR)
        await beside.tell([mistaken, *story(COUNT)])
        assert beside.memory() == alone.memory(), "another's event came into memory"
        assert [letter.original for letter in beside.letters()] == [mistaken], "another's event left no letter"
        ours, theirs = await answers(alone), await answers(beside)
        for name in ours:
            assert ours[name] == theirs[name], f"a neighbour moves what is found by {name}"
        strangers = [found.record.id for found in await beside.indexed(NEIGHBOUR)]
        assert strangers, "the neighbour has nothing to show"
        assert await beside.index.fetch(HERE, EVER, strangers) == [], "another's records can be fetched"


async def answers(home: RealHome) -> dict[str, Any]:
    """What the index and recall answer, by the kind of question."""
    here, text = Filter(HERE, EVER, ALL_KINDS), "Which herrings did Mia buy at the harbour?"
    vector = await home.embedder.embed_query(text)
    words = [tokens(text), ["harbour"], ["jazz", "oslo"]]
    return {
        "filter": await home.indexed(),
        "sense": [await home.index.nearest(here, [vector], 99), await home.index.dense(here, vector, 99)],
        "words": [await home.index.lexical(here, words, 99), await home.index.sparse(here, words[0], 99)],
        "recall": await Recall(home.index, home.embedder).recall(HERE, Question(question=text)),
    }


async def check_rows() -> None:
    """A row that names another space than its event comes nowhere, and its event is a letter."""
    async with home_on_edge(leaky) as home:
        await home.tell([*story(3), said("leak", "I own a cello.", minutes=900), said("last", "Bye.", minutes=901)])
        assert not await home.indexed(NEIGHBOUR), "a row came into another space"
        assert not any(NEIGHBOUR in row for row in home.memory() if '"row":"record"' in row), "memory holds it"
        assert [letter.turn_id for letter in home.letters()] == ["leak"], "it left no letter"


def leaky(embedder: Embedder, index: Index) -> Topology:
    """The real stages, of which one writes a row of the neighbour's at one turn."""

    class Leaky(Route):
        async def decide(self, message: Any, state: Any) -> Any:
            outcome = await Route.decide(self, message, state)
            assert isinstance(outcome, Emit)
            if message.header.event_id != "leak":
                return outcome
            rows = tuple(row.model_copy(update={"space": NEIGHBOUR}) for row in outcome.message.rows[:1])
            leaked = outcome.message.model_copy(update={"rows": (*rows, *outcome.message.rows[1:])})
            return Emit(leaked, outcome.state)

    stage = Leaky(index, embedder.model)
    nodes = wired(embedder, index).nodes
    return Topology(tuple(replace(node, stage=stage) if node.name == "route" else node for node in nodes))


TELLING = {Space, Filter, Sequence[Space]}
"""Types of a parameter that says whose records are meant."""


def check_calls() -> None:
    """Every call of the index that reads or writes takes a space, by itself or in its filter."""
    with pytest.raises(TypeError, match="space"):
        Filter(as_of=EVER, kinds=ALL_KINDS)  # type: ignore[call-arg]  # what is tested
    calls = inspect.getmembers(EdgeIndex, inspect.iscoroutinefunction)
    spaceless = [name for name, call in calls if not TELLING & set(get_type_hints(call).values())]
    private = [name for name in spaceless if name.startswith("_")]
    assert set(spaceless) - set(private) == {"close", "optimize"}, "the index can be asked without a space"


async def test_a_neighbour_moves_nothing() -> None:
    await check_neighbour()


async def test_a_row_of_another_space_comes_nowhere() -> None:
    await check_rows()


def test_no_call_goes_without_a_space() -> None:
    check_calls()


def without_space(patch: pytest.MonkeyPatch) -> None:
    every = conditions._conditions

    def of_all(where: Filter) -> Iterator[FieldCondition]:
        return (one for one in every(where) if one.key != "space")

    patch.setattr(conditions, "_conditions", of_all)
    patch.setattr(residents, "WORTH", EVER)  # no vectors in memory: the engine is asked


def read_together(patch: pytest.MonkeyPatch) -> None:
    def of_all(reads: edge_reads.Reads, _space: Space) -> list[Any]:
        return [points.stored(point) for point in reads.shard.all(EdgeFilter(must=[]), points.STORED_FIELDS, SPARSE)]

    patch.setattr(edge_reads.Reads, "_stored", of_all)


def fetched_anywhere(patch: pytest.MonkeyPatch) -> None:
    def fetch(reads: edge_reads.Reads, _space: Space, as_of: int, names: list[str]) -> list[Any]:
        records = reads._records(set(names))
        return [points.found(*records[name], as_of) for name in names if name in records]

    patch.setattr(edge_reads.Reads, "fetch", fetch)


def believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(numbering, "peek", lambda body: replace(peek(body), space=None))


@each(
    Mutation("a search without the space's filter", without_space, "which is none of the space's", Unavailable),
    Mutation("a space is read with its neighbours", read_together, "a neighbour moves what is found by filter"),
    Mutation("records are fetched by id alone", fetched_anywhere, "another's records can be fetched"),
    Mutation("a payload of another space is accepted", believed, "another's event came into memory"),
)
async def test_a_neighbour_who_shows_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_neighbour()


def unchecked_by_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Commit, "_fault", lambda *_: None)


def unchecked(patch: pytest.MonkeyPatch) -> None:
    unchecked_by_commit(patch)
    patch.setattr(batch, "_require", lambda *_: None)


@each(
    Mutation("commit does not look at the spaces of rows", unchecked_by_commit, "a row of another space", ValueError),
    Mutation("neither commit nor the index looks", unchecked, "a row came into another space"),
)
async def test_a_leak_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_rows()


def everything(patch: pytest.MonkeyPatch) -> None:
    async def newest(index: EdgeIndex, limit: int) -> list[Any]:
        return []

    patch.setattr(EdgeIndex, "newest", newest, raising=False)


@each(Mutation("a call that names no space", everything, "the index can be asked without a space"))
def test_a_way_around_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        check_calls()
