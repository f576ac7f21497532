"""Invariant 4: the same log gives the same memory, byte for byte, whatever came together and however it was cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from infra import stages as wiring
from infra.models import HashEmbedder
from infra.qdrant import EdgeIndex, columns, ranking, reads
from schemas.extracted import Extracted
from schemas.space import Space
from stages.contract import Emit
from stages.extract_per_view import ExtractPerView, ExtractState
from tests.fakes.folders import quick_folder
from tests.fakes.index import MemoryIndex
from tests.fakes.index_rows import record
from tests.fakes.index_suite import SIZE, Index, ids, vector, where, write
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.real_home import SPACE, RealHome, story

LOG = story(16)


async def check_paces(folder: Path) -> None:
    """Told at once, in pieces or one by one, by processes that start anew each time: it is the same memory."""
    homes = []
    for pace in (len(LOG), 5, 1):
        home = RealHome(folder / f"by-{pace}")
        home.folder.mkdir()
        await home.tell(LOG, pace=pace)
        homes.append(home)
    for one, other in pairwise(homes):
        assert one.memory() == other.memory(), "memory differs with the pace"
        assert _vectors(one.index) == _vectors(other.index), "vectors differ with the pace"
        states = {stage: saved.parts for stage, saved in other.states().items()}
        assert {stage: saved.parts for stage, saved in one.states().items()} == states, "states differ with the pace"


def _vectors(index: Index) -> dict[str, bytes | None]:
    assert isinstance(index, MemoryIndex)
    return {key: kept.vector for key, kept in index.records[Space(SPACE)].items()}


async def check_ties() -> None:
    """Equal scores come in the order of their ids, whatever was written first."""
    rows = [record(Space(SPACE), 0, "rust apple", ordinal=n) for n in range(60)]
    seen = [await _best(rows), await _best(rows[::-1])]
    assert seen[0] == seen[1], "the order of writing decides between equals"


async def _best(rows: Sequence[Any]) -> list[list[str]]:
    with quick_folder() as folder:
        index = EdgeIndex.open(folder / "index", generation=1, model="test", dimension=SIZE)
        here = where(Space(SPACE))
        await index.lexical(here, [["rust"]], 5)  # the space is in memory, where its records come as they are written
        await write(index, *rows, vectors=[vector(3)] * len(rows))
        await write(index, record(Space(SPACE), 1, "other"), at=1)
        [near], [words] = await index.nearest(here, [vector(2)], 5), await index.lexical(here, [["rust"]], 5)
        await index.close()
    return [ids(near), ids(words)]


async def test_one_log_makes_one_memory(tmp_path: Path) -> None:
    await check_paces(tmp_path)


async def test_equals_come_in_one_order() -> None:
    await check_ties()


def company_in_the_chain(patch: pytest.MonkeyPatch) -> None:
    embed = HashEmbedder.embed
    known: dict[tuple[int, str], bytes] = {}  # what is computed first is kept, as by a real encoder's cache

    async def embedded(embedder: HashEmbedder, texts: Sequence[str]) -> list[bytes]:
        for text, one in zip(texts, await embed(embedder, texts), strict=True):
            known.setdefault((id(embedder), text), one[:-1] + bytes([len(texts) % 100]))
        return [known[id(embedder), text] for text in texts]

    patch.setattr(HashEmbedder, "embed", embedded)


def prepared(patch: pytest.MonkeyPatch) -> None:
    class Prepared(ExtractPerView):
        async def prepare(self, messages: Sequence[Any]) -> None:
            vars(self)["together"] = len(messages)

        async def decide(self, message: Any, state: Any) -> Any:
            outcome: Any = await ExtractPerView.decide(self, message, state)
            if (
                isinstance(outcome, Emit)
                and isinstance(outcome.message, Extracted)
                and vars(self).get("together", 0) < 8
            ):
                return Emit(outcome.message.model_copy(update={"items": ()}), outcome.state)
            return outcome

    patch.setattr(wiring, "ExtractPerView", Prepared)


def half_saved(patch: pytest.MonkeyPatch) -> None:
    parts = ExtractState.parts
    patch.setattr(ExtractState, "parts", lambda state: {"parties": parts(state)["parties"]})


@each(
    Mutation("company changes vectors", company_in_the_chain, "memory differs with the pace"),
    Mutation("preparing has an effect on results", prepared, "memory differs with the pace"),
    Mutation("a state is not saved whole", half_saved, "memory differs with the pace"),
)
async def test_another_memory_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check_paces(tmp_path)


def cut(sort: bool) -> Install:  # noqa: FBT001 - a table's column
    """Cut what the engine answers without asking past ties; ``sort`` it by score and id."""

    def best(points: Sequence[Any], _asked: int, limit: int) -> list[tuple[str, int]]:
        scored = [(-round(point.score), ranking.number(point)) for point in points]
        return [(ranking.name(number), -score) for score, number in (sorted(scored) if sort else scored)[:limit]]

    return lambda patch: patch.setattr(reads, "cut", best)


def as_they_come(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "nsmallest", lambda count, tied: list(islice(tied, count)))


@each(
    Mutation("the engine's equals stay as they come", cut(sort=False), "the order of writing decides between equals"),
    Mutation("ties are cut where the fetch ended", cut(sort=True), "the order of writing decides between equals"),
    Mutation("equals in memory are cut as they come", as_they_come, "the order of writing decides between equals"),
)
async def test_another_order_of_equals_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_ties()
