"""A home whose stages ask a language model: the same log gives the same memory, and what a model says gets there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.stages import topology
from schemas.memory import RecordKind
from stages.contract import Unavailable
from stages.ports import Embedder, LanguageModel, Request
from streams.topology import Topology
from tests.fakes.index_suite import Index
from tests.fakes.language_model import Scripted
from tests.fakes.real_home import RealHome, mixed, story
from tests.fakes.router import Router


def home(folder: Path, model: LanguageModel) -> RealHome:
    def wire(embedder: Embedder, index: Index) -> Topology:
        return topology(embedder, index, 1_000_000, model)

    folder.mkdir()
    return RealHome(folder, wire=wire)


def scholar() -> Scripted:
    """Return a model that quotes the whole turn, and rules that "boat" changes "ferry"; of every fifth turn rubbish."""
    router = Router([("boat", "change", "ferry")])

    def say(request: Request[Any]) -> object:
        asked = json.loads(request.data)
        if request.prompt.stage != "normalize":
            return router.say(request) if request.prompt.stage == "route" else {"items": []}
        turn = asked["turn"]
        if len(turn["text"]) % 5 == 0:
            return None
        summary = f"{turn['speaker']} spoke after {len(asked['before'])} others."
        told = {"topic": "talk", "attitude": "mixed", "reason": "", "attributes": [], "summary": summary}
        return {**told, "facts": [turn["text"], "this was never said"]}

    return Scripted(say)


async def outcome(folder: Path, bodies: Sequence[bytes], pace: int) -> tuple[Any, ...]:
    one = home(folder, scholar())
    await one.tell(bodies, pace=pace)
    return one.memory(), {name: saved.parts for name, saved in one.states().items()}, one.sums()


async def test_the_same_log_gives_the_same_memory_at_any_pace(tmp_path: Path) -> None:
    log = [*mixed(), *story(24, first=20)]
    told = [await outcome(tmp_path / str(pace), log, pace) for pace in (len(log), 5)]
    assert told[0] == told[1]
    assert "spoke after 4 others" in "\n".join(told[0][0])


async def test_memory_says_what_the_model_said_and_what_is_degraded(tmp_path: Path) -> None:
    one = home(tmp_path / "home", scholar())
    await one.tell(story(8))
    turns = [row for row in one.records() if row.kind is RecordKind.TURN]
    assert [row.degraded for row in turns] == [len(row.text) % 5 == 0 for row in turns]
    assert {row.attitude.value for row in turns if not row.degraded} == {"mixed"}
    assert all("never said" not in line for line in one.memory())


async def test_with_a_model_away_nothing_is_lettered_and_all_arrives_afterwards(tmp_path: Path) -> None:
    def away(_request: Request[Any]) -> object:
        raise Unavailable

    model = Scripted(away)
    one = home(tmp_path / "home", model)
    one.publish(story(6))
    with pytest.raises(Unavailable):
        await one.run()
    assert (one.sums().committed, one.sums().lettered, one.sums().pending) == (0, 0, 6)
    model.say = scholar().say
    await one.run()
    assert (one.sums().committed, one.letters()) == (6, [])
