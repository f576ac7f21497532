"""Invariant 4 with a model: the same log and the same answers give the same views and items, whatever the pace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from infra.stages import topology
from schemas.memory import RecordKind
from stages.ports import Embedder
from streams.topology import Topology
from tests.fakes.index_suite import Index
from tests.fakes.language_model import Scripted
from tests.fakes.reader import each_turn
from tests.fakes.real_home import BOT, MIA, RealHome, said

PAIRS = 106


def chat(pairs: int) -> list[bytes]:
    """Return turns of Mia's and the bot's answers, and a revision of an early one."""
    turns = []
    for number in range(pairs):
        at = 10 * number
        turns.append(said(f"m{number}", f"Number {number}: I own {number + 2} cellos.", minutes=at, speaker=MIA))
        turns.append(said(f"b{number}", "Noted.", minutes=at + 1, speaker=BOT, reply_to=f"m{number}"))
    return [*turns, said("m3", "I own nothing now.", minutes=10 * pairs, revision=1)]


def home(folder: Path, language: Scripted) -> RealHome:
    def wired(embedder: Embedder, index: Index) -> Topology:
        return topology(embedder, index, 1_000_000, language)

    folder.mkdir()
    return RealHome(folder, wire=wired)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[RealHome, Scripted]:
    language = Scripted(each_turn)
    one = home(tmp_path_factory.mktemp("views") / "home", language)
    asyncio.run(one.tell(chat(PAIRS)))
    return one, language


async def test_nothing_is_lost_and_the_calls_are_few(told: tuple[RealHome, Scripted]) -> None:
    one, language = told
    turns = 2 * PAIRS + 1
    assert str(one.sums()) == f"published={turns} committed={turns} lettered=0 duplicates=0 forgotten=0 pending=0"
    asked = [request for request in language.asked if request.prompt.stage == "extract_per_view"]
    assert len(asked) / turns <= 0.7
    views = [row for row in one.records() if row.kind is RecordKind.VIEW]
    assert [row.view.version for row in views if row.view].count(2) == 10
    assert any(row.view_set == 2 for row in one.records())
    gone = [row for row in one.records() if row.provenance == ("m3",) and "5 cellos" in row.text]
    closed = {found.record.id for found in await one.indexed() if found.until < 10**9}
    assert gone
    assert {row.id for row in gone} <= closed


async def test_a_replay_gives_the_same_memory(told: tuple[RealHome, Scripted], tmp_path: Path) -> None:
    other = home(tmp_path / "home", Scripted(each_turn))
    await other.tell(chat(PAIRS), pace=37)
    assert other.memory() == told[0].memory()
