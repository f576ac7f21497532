"""A night whose decisions a language model makes, from turns to recall: what it once said is never asked again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infra.bootstrap import open_embedded
from infra.embedded_memory import EmbeddedMemory
from infra.language_models import RESULTS
from infra.nights.api import Told, Wish
from infra.nights.embedded import EmbeddedGround
from infra.nights.undoing import undo
from infra.settings import Settings
from schemas.consolidation import Act
from schemas.memory import ITEM_KINDS
from schemas.recall import Question
from schemas.space import Space
from stages.consolidate import live
from tests.fakes.chat_server import Asked, ChatServer, Reply
from tests.fakes.chat_server import said as replied
from tests.fakes.night_runs import NIGHT, night, remembered, silent
from tests.fakes.plain_model import plain
from tests.fakes.real_home import said

MIA = Space("acme/mia")
CALLED, PLACE = "My sailboat is called Anna.", "My sailboat is in Kiel."
BOTH = "My sailboat is called Anna and is in Kiel."
TEXTS = (CALLED, "What a fine boat.", PLACE, "I bake bread.")
HARBOUR = Question(id="q", question="Where is the sailboat Anna?", k=5)


@dataclass
class Judge:
    """Puts the two statements of the boat together, names no theme, and notes what it was asked of a night.

    ``text`` is its word for both; every other stage gets plain answers.
    """

    text: str = BOTH
    case: str = "complementarity"
    asked: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        if not asked.name.startswith("consolidate_"):
            return plain(asked)
        self.asked.append(asked.name)
        data = json.loads(asked.user.partition("\n")[0])
        return replied(json.dumps(self._answer(asked.name, data)))

    def _answer(self, name: str, data: Any) -> object:
        if name == "consolidate_persona":
            return {"text": "Mia has a sailboat."}
        if name == "consolidate_topics":
            return {"groups": []}
        ids = [one["id"] for one in data["statements"] if one["text"] in {CALLED, PLACE}]
        return {"groups": [{"case": self.case, "members": ids, "text": self.text}] if len(ids) > 1 else []}


async def told(memory: EmbeddedMemory, texts: Sequence[str] = TEXTS) -> None:
    await memory.publish(MIA, [said(f"t{n}", text, MIA, minutes=n) for n, text in enumerate(texts)])
    await memory.run()


async def slept(memory: EmbeddedMemory, days: int = 0) -> Told:
    """Consolidate all spaces, some days later; there is one."""
    return (await night(EmbeddedGround(memory, silent), NIGHT + timedelta(days=days)))[MIA]


def items(memory: EmbeddedMemory) -> list[str]:
    return sorted(one.row.text for one in live(memory.rows(MIA)) if one.row.kind in ITEM_KINDS)


def home(folder: Path, server: ChatServer) -> Settings:
    return Settings(home=folder, embedder="hash", language_model=server.setting)


def _nobody(asked: Asked) -> Reply:
    msg = f"{asked.name} was asked again"
    raise AssertionError(msg)


async def test_sides_of_one_thing_become_one_statement_that_recall_finds(tmp_path: Path) -> None:
    judge = Judge()
    with ChatServer(judge) as server:
        async with open_embedded(home(tmp_path / "home", server)) as memory:
            await told(memory)
            first = await slept(memory)
            assert (first.degraded, first.stale) == (0, [])
            (merged,) = [one for one in first.decisions if one.act is Act.MERGE]
            assert (merged.reason, [one.text for one in merged.records]) == ("complementarity", [BOTH])
            assert BOTH in items(memory)
            assert not {CALLED, PLACE} & set(items(memory))
            hits = (await memory.recall(MIA, HARBOUR)).hits
            assert {turn for hit in hits for turn in hit.turn_ids} >= {"t0", "t2"}
            (row,) = [one.row for one in live(memory.rows(MIA)) if one.row.text == BOTH]
            assert row.provenance == ("t0", "t2")


async def test_a_second_night_decides_nothing_and_asks_nothing(tmp_path: Path) -> None:
    judge = Judge()
    with ChatServer(judge) as server:
        async with open_embedded(home(tmp_path / "home", server)) as memory:
            await told(memory)
            first = await slept(memory)
            asked, before = list(judge.asked), remembered(memory.journal)
            assert "consolidate_merge" in asked
            second = await slept(memory, days=1)
            assert (first.events > 0, second.events, second.decisions) == (True, 0, [])
            assert judge.asked == asked
            assert remembered(memory.journal) == before


async def test_a_replay_repeats_the_night_and_asks_nothing(tmp_path: Path) -> None:
    judge = Judge()
    with ChatServer(judge) as server:
        one, other = home(tmp_path / "home", server), home(tmp_path / "other", server)
        async with open_embedded(one) as memory:
            await told(memory)
            await slept(memory)
            log = [(event.body, event.own) for event in memory.journal.whole_log(MIA)]
            before = remembered(memory.journal)
        other.home.mkdir()
        shutil.copy(one.home / RESULTS, other.home / RESULTS)
        server.script = _nobody
        async with open_embedded(other) as memory:
            for body, own in log:
                memory.journal.append(MIA, [body], own=own)
            await memory.run()
            assert remembered(memory.journal) == before


async def test_what_nobody_said_is_refused_and_rules_stand_in(tmp_path: Path) -> None:
    judge = Judge(text="My sailboat is called Anna and is in Kiel since 1970.")
    with ChatServer(judge) as server:
        async with open_embedded(home(tmp_path / "home", server)) as memory:
            await told(memory)
            first = await slept(memory)
            assert first.degraded == 1
            assert judge.asked.count("consolidate_merge") == 2, "it is asked once more, and then rules decide"
            assert {CALLED, PLACE} <= set(items(memory))


@pytest.mark.parametrize("case", ["complementarity", "containment"])
async def test_undo_brings_back_what_the_model_put_together(tmp_path: Path, case: str) -> None:
    with ChatServer(Judge(case=case)) as server:
        async with open_embedded(home(tmp_path / "home", server)) as memory:
            await told(memory)
            run = (await slept(memory)).run
            assert not {CALLED, PLACE} & set(items(memory))
            back = [one async for one in undo(EmbeddedGround(memory, silent), Wish(), run, NIGHT, silent)]
            assert [one.stale for one in back] == [[]]
            assert items(memory) == sorted(TEXTS)
            again = await slept(memory, days=2)
            assert [one for one in again.decisions if one.act is Act.MERGE] == []
