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
from schemas.memory import ITEM_KINDS, RecordKind
from stages.extract_per_view.answers import CANONICAL, DISCOVER, EXTRACT
from stages.ports import Request
from streams.results import FileResults
from tests.fakes.reader import each_turn
from tests.fakes.real_home import BOT, MIA, SPACE, RealHome, said
from tests.fakes.sent import Kind, Sent

PAIRS = 106
CROWD = 81
PROMPTS = {prompt.name.replace(".", "_"): prompt for prompt in (EXTRACT, DISCOVER, CANONICAL)}


def chat(pairs: int) -> list[bytes]:
    """Return turns of Mia's and the bot's answers, and a revision of an early one."""
    turns = []
    for number in range(pairs):
        at = 10 * number
        turns.append(said(f"m{number}", f"Number {number}: I own {number + 2} cellos.", minutes=at, speaker=MIA))
        turns.append(said(f"b{number}", "Noted.", minutes=at + 1, speaker=BOT, reply_to=f"m{number}"))
    return [*turns, said("m3", "I own nothing now.", minutes=10 * pairs, revision=1)]


def channel(turns: int) -> list[bytes]:
    """Return turns of as many people, each about something new a day later, and a revision of one that waits."""
    told = []
    for number in range(turns):
        who = {"id": f"u{number}", "name": f"Person{number}"}
        text = f"topic{number} subject{number}: I own {number + 2} cellos."
        told.append(said(f"m{number}", text, minutes=1440 * number, speaker=who))
    who = {"id": f"u{turns - 1}", "name": f"Person{turns - 1}"}
    return [*told, said(f"m{turns - 1}", "I own nothing now.", minutes=1440 * turns, speaker=who, revision=1)]


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


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Keeping:
    folder = tmp_path_factory.mktemp("crowd")
    one = home(folder / "home", folder / "answers", Answering())
    asyncio.run(one.tell(channel(CROWD)))
    return one


async def test_turns_of_a_channel_are_read_two_by_two(crowded: Keeping) -> None:
    assert str(crowded.sums()).startswith(f"published={CROWD + 1} committed={CROWD + 1} lettered=0")
    asked = [name for name in crowded.chat.asked if name == "extract_per_view_extract"]
    assert len(asked) <= CROWD / 2 + 1
    items = {row.provenance: row for row in crowded.records() if row.kind in ITEM_KINDS}
    assert {f"m{number}" for number in range(CROWD - 1)} <= {turn for turns in items for turn in turns}
    last = items.pop((f"m{CROWD - 1}",))
    assert all(f"subject{turns[0][1:]}:" in row.text for turns, row in items.items())
    assert last.text.endswith("I own nothing now."), "it was revised while it waited"


async def test_a_channels_replay_gives_the_same_memory_without_a_call(crowded: Keeping, tmp_path: Path) -> None:
    other = home(tmp_path / "home", crowded.answers, Answering(away=True))
    await other.tell(channel(CROWD), pace=7)
    assert other.memory() == crowded.memory()


async def drained(one: Keeping) -> Keeping:
    """Tell a short channel, and drain it as a night does with a space in which nobody speaks any more."""
    await one.tell(channel(6)[:-1])
    with one.journal() as journal:
        journal.append(SPACE, [Sent(SPACE, Kind.DRAIN, "drain-1").body], own=True)
    await one.run()
    return one


async def test_a_drain_brings_the_last_exchange_to_memory_and_a_replay_the_same(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    one = await drained(home(tmp_path / "home", answers, Answering()))
    items = {row.provenance: row.since for row in one.records() if row.kind in ITEM_KINDS}
    assert {turn for turns in items for turn in turns} == {f"m{number}" for number in range(6)}
    assert items["m5",] == 6, "it had no reply, and came with the drain"
    again = await drained(home(tmp_path / "again", answers, Answering(away=True)))
    assert again.memory() == one.memory()
    assert again.sums() == one.sums()


async def test_a_replay_on_the_kept_answers_gives_the_same_memory_without_a_call(told: Keeping, tmp_path: Path) -> None:
    """Chunks, discovery and convergence ask for exactly what they asked for, whatever the pace."""
    one = told
    other = home(tmp_path / "home", one.answers, Answering(away=True))
    await other.tell(chat(PAIRS), pace=37)
    assert other.memory() == one.memory()
    assert other.sums() == one.sums()
