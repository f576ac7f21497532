"""Invariant 5: a stage reads memory as of W events ago, whatever has been committed since.

The first check lets one log run with memory far behind and close behind: in one go, and event by event, where memory is
complete to the event before. The second asks the real index about the past before and after later writes. The window W
and working memory are made small, so that a short log crosses both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_edge import FieldCondition

from infra.qdrant import EdgeIndex, columns, conditions, residents
from infra.qdrant.reads import Reads
from schemas.memory import RecordKind
from schemas.space import Space
from stages.localize_state import reads as localizing
from stages.localize_state import threads
from stages.ports import Filter
from stages.route import targets
from streams.engine import Engine
from streams.order import Order
from streams.stopped import BrokenOrder
from tests.fakes.folders import quick_folder
from tests.fakes.index_rows import record
from tests.fakes.index_suite import SIZE, vector, where, write
from tests.fakes.mutations import Mutation, each
from tests.fakes.narrow import narrow
from tests.fakes.real_home import BOT, EVER, SPACE, RealHome, said

TOPICS = (
    ("The sailing boat leaks at the keel.", "About that leaking sailing boat: the keel is dry."),
    ("My guitar needs six bronze strings.", "Which bronze strings does the guitar need?"),
    ("Snails have eaten all lettuce of the garden.", "More snails in the garden, no lettuce left."),
    ("Our accountant sent the tax form.", "Is the tax form of the accountant signed?"),
    ("Grandmother bakes rye bread on Sundays.", "Rye bread again by grandmother, this Sunday?"),
)
CITIES = ("Oslo", "Rome", "Kiel")


def chat(count: int) -> list[bytes]:
    """Return turns of two, who come back to the same few topics days later; Mia moves house now and then."""
    turns = []
    for n in range(count):
        first, later = TOPICS[n // 2 % len(TOPICS)]
        text = f"I live in {CITIES[n // 6 % 3]}." if n % 6 == 4 else later if n >= 2 * len(TOPICS) else first
        fields: dict[str, Any] = {"speaker": BOT} if n % 2 else {}
        turns.append(said(f"t{n}", "I see." if n % 2 else text, minutes=3000 * n, session=f"s{n // 2}", **fields))
    return turns


LOG = chat(36)


async def check_lag(folder: Path) -> None:
    """How far memory is behind decides nothing."""
    behind, close = RealHome(folder / "behind"), RealHome(folder / "close")
    with pytest.MonkeyPatch.context() as patch:
        narrow(patch)
        patch.setattr(threads, "_TIPS_LOOKED_AT", 1)  # so that branches have to come back through reads
        for home, pace in ((behind, EVER), (close, 1)):
            home.folder.mkdir()
            await home.tell(LOG, pace=pace)
    assert any('"row":"left"' in row for row in close.memory()), "nothing left working memory"
    assert any('"row":"changed"' in row for row in close.memory()), "nothing was changed"
    assert behind.memory() == close.memory(), "memory differs with its lag"
    for stage, state in behind.states().items():
        assert state.parts == close.states()[stage].parts, f"the state of {stage} differs with memory's lag"


async def check_past() -> None:
    """As of a position, the index answers as it did then: the same records, with the same scores."""
    here = Space(SPACE)
    early = [record(here, n, f"whale number {n} {'song' if n % 2 else 'dive'}") for n in range(6)]
    late = [record(here, n, f"whale song and dive {n}") for n in range(6, 30)]
    with quick_folder() as folder:
        index = EdgeIndex.open(folder / "index", generation=1, model="test", dimension=SIZE)
        await write(index, *early, at=5, vectors=[vector(n + 1) for n in range(6)])
        told = await _asked(index, where(here, as_of=5))
        await write(index, *late, at=29, vectors=[vector(90)] * len(late))
        now = await _asked(index, where(here, as_of=5))
        await index.close()
    assert all(told), "nothing was found"
    assert now == told, "the past reads otherwise now"


async def _asked(index: EdgeIndex, past: Filter) -> list[Any]:
    return [
        *await index.nearest(past, [vector(2)], 4),
        *await index.lexical(past, [["song"], ["whale", "dive"]], 4),
        await index.dense(past, vector(2), 4),
        await index.sparse(past, ["song"], 4),
        await index.matching(past, 4),
        await index.fetch(past.space, past.as_of, [record(past.space, n).id for n in (3, 9)]),
    ]


async def test_the_lag_of_memory_decides_nothing(tmp_path: Path) -> None:
    await check_lag(tmp_path)


async def test_the_past_reads_as_it_did() -> None:
    await check_past()


def localize_reads_on(patch: pytest.MonkeyPatch) -> None:
    def sees(space: Space, position: int, turn_ids: frozenset[str] | None = None) -> Filter:
        return Filter(space, position - 1, frozenset({RecordKind.TURN}), turn_ids=turn_ids)

    patch.setattr(localizing, "sees", sees)


def route_reads_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(targets.Reader, "as_of", property(lambda reader: reader.position - 1))


async def _at_once(*_: object) -> None: ...


def not_admitted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Engine, "_admitted", _at_once)


def not_admitted_nor_checked(patch: pytest.MonkeyPatch) -> None:
    not_admitted(patch)
    patch.setattr(Order, "admits", _at_once)


@each(
    Mutation("localize_state reads past a", localize_reads_on, "memory differs with its lag"),
    Mutation("route reads its own events of the last W in memory", route_reads_on, "memory differs with its lag"),
    Mutation("the first stage does not wait", not_admitted, "while memory is complete to", BrokenOrder),
    Mutation("nobody waits, nobody looks", not_admitted_nor_checked, "memory differs with its lag"),
)
async def test_reading_the_present_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check_lag(tmp_path)


def timeless(patch: pytest.MonkeyPatch) -> None:
    every = conditions._conditions

    def without_since(asked: Filter) -> Iterator[FieldCondition]:
        return (one for one in every(asked) if one.key != "since")

    patch.setattr(conditions, "_conditions", without_since)
    patch.setattr(residents, "WORTH", EVER)  # no vectors in memory: the engine is asked


def counted(patch: pytest.MonkeyPatch) -> None:
    """Count later records too, among all and among those that hold a word."""
    patch.setattr(columns.Column, "count", lambda column, _as_of: len(column.ids))


def held(patch: pytest.MonkeyPatch) -> None:
    holding = columns.Column.holding
    patch.setattr(columns.Column, "holding", lambda column, dimension, _rows: holding(column, dimension, EVER))


def fetched(patch: pytest.MonkeyPatch) -> None:
    fetch = Reads.fetch
    patch.setattr(Reads, "fetch", lambda reads, space, _as_of, names: fetch(reads, space, EVER, names))


@each(
    Mutation("the index finds later records", timeless, "the past reads otherwise now"),
    Mutation("the columns count later records", counted, "the past reads otherwise now"),
    Mutation("BM25 counts later uses of a word", held, "the past reads otherwise now"),
    Mutation("records are fetched before their position", fetched, "the past reads otherwise now"),
)
async def test_another_past_is_caught(mutation: Mutation) -> None:
    with mutation.put_in():
        await check_past()
