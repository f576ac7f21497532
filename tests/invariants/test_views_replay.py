"""Invariant 4 with a model: the same log and the same answers give the same views and items, whatever the pace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infra.models.completion import Completion
from infra.models.kept import KeptLanguageModel
from infra.stages import topology
from schemas.memory import RecordKind
from stages.extract_per_view.answers import CANONICAL, DISCOVER, EXTRACT
from stages.ports import Request
from streams.results import FileResults
from tests.fakes.reader import each_turn
from tests.fakes.real_home import BOT, MIA, SPACE, RealHome, said

PAIRS = 106
PROMPTS = {prompt.name.replace(".", "_"): prompt for prompt in (EXTRACT, DISCOVER, CANONICAL)}


def chat(pairs: int) -> list[bytes]:
    """Return turns of Mia's and the bot's answers, and a revision of an early one."""
    turns = []
    for number in range(pairs):
        at = 10 * number
        turns.append(said(f"m{number}", f"Number {number}: I own {number + 2} cellos.", minutes=at, speaker=MIA))
        turns.append(said(f"b{number}", "Noted.", minutes=at + 1, speaker=BOT, reply_to=f"m{number}"))
    return [*turns, said("m3", "I own nothing now.", minutes=10 * pairs, revision=1)]


@dataclass
class Answering:
    """Implements ``Chat``: says what ``each_turn`` does; with ``away`` it must not be asked. ``asked`` are names."""

    away: bool = False
    model: str = "answering"
    asked: list[str] = field(default_factory=list)

    async def complete(self, body: Mapping[str, Any], tenant: str) -> tuple[Completion, float]:
        name = body["response_format"]["json_schema"]["name"]
        assert not self.away, name
        self.asked.append(name)
        prompt = PROMPTS.get(name)
        if prompt is None:
            return Completion(200, "no idea", "stop"), 0.0  # another stage asks: it goes by its rules
        system, user = (message["content"] for message in body["messages"])
        frame = system.removeprefix(prompt.text).strip()
        return Completion(200, json.dumps(each_turn(Request(SPACE, prompt, user, frame))), "stop"), 0.0


@dataclass
class Keeping(RealHome):
    """A home whose answers lie in ``answers``."""

    chat: Answering = field(default_factory=Answering)
    answers: Path = Path()

    async def run(self) -> None:
        with closing(FileResults(self.answers)) as results:
            language = KeptLanguageModel(self.chat, results)
            self.wire = lambda embedder, index: topology(embedder, index, 1_000_000, language)
            await super().run()


def home(folder: Path, answers: Path, chat: Answering) -> Keeping:
    folder.mkdir()
    return Keeping(folder, chat=chat, answers=answers)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Keeping:
    folder = tmp_path_factory.mktemp("views")
    one = home(folder / "home", folder / "answers", Answering())
    asyncio.run(one.tell(chat(PAIRS)))
    return one


async def test_nothing_is_lost_and_the_calls_are_few(told: Keeping) -> None:
    one = told
    turns = 2 * PAIRS + 1
    assert str(one.sums()) == f"published={turns} committed={turns} lettered=0 duplicates=0 forgotten=0 pending=0"
    asked = [name for name in one.chat.asked if name.startswith("extract_per_view")]
    assert {name.partition("_per_view_")[2] for name in asked} == {"extract", "discover", "canonical"}
    assert len(asked) / turns <= 0.7
    views = [row for row in one.records() if row.kind is RecordKind.VIEW]
    assert [row.view.version for row in views if row.view].count(2) == 10
    assert any(row.view_set == 2 for row in one.records())
    gone = [row for row in one.records() if row.provenance == ("m3",) and "5 cellos" in row.text]
    closed = {found.record.id for found in await one.indexed() if found.until < 10**9}
    assert gone
    assert {row.id for row in gone} <= closed


async def test_a_replay_on_the_kept_answers_gives_the_same_memory_without_a_call(told: Keeping, tmp_path: Path) -> None:
    """Chunks, discovery and convergence ask for exactly what they asked for, whatever the pace."""
    one = told
    other = home(tmp_path / "home", one.answers, Answering(away=True))
    await other.tell(chat(PAIRS), pace=37)
    assert other.memory() == one.memory()
    assert other.sums() == one.sums()
