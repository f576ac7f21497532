"""Invariant 2: a stage is a function of message and state; same input, same bytes out.

The check lets the same log run twice: here and now in one go, and decades later, in another zone, environment and state
of luck, by new stages every few events. A second check runs it in two processes, in which sets have other orders.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from infra import stages as wiring
from schemas.extracted import Extracted
from schemas.memory import RecordKind
from stages.commit import Commit
from stages.contract import Emit
from stages.extract_per_view import ExtractPerView
from stages.normalize import stage as normalize
from stages.ring import Ring
from stages.text.times import resolve_times
from tests.fakes.clock import elsewhere
from tests.fakes.mutations import Install, Mutation, each, rewriting
from tests.fakes.real_home import SPACE, RealHome, said, story

MARKER = "ANABRANCH_ELSEWHERE"
"""A variable that the other environment has."""

ROOT = Path(__file__).parents[2]

LOG = [*story(20), said("blank", " ", minutes=5000), said("odd", "x", at="noon"), *story(4, first=20)]


async def check(folder: Path) -> None:
    """All that is stored is the same, byte for byte."""
    here, there = RealHome(folder / "here"), RealHome(folder / "there")
    for home in (here, there):
        home.folder.mkdir()
    await here.tell(LOG)
    with elsewhere(), pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARKER, "1")
        await there.tell(LOG, pace=5)
    assert len(here.records()) > 60, "nothing was remembered"
    assert here.memory() == there.memory(), "memory has other bytes"
    assert here.letters() == there.letters(), "letters have other bytes"
    for stage, state in here.states().items():
        assert state.parts == there.states()[stage].parts, f"the state of {stage} has other bytes"
    assert await here.indexed() == await there.indexed(), "the index has other records"


def dated(at: Callable[[datetime], datetime]) -> Install:
    """Resolve the times of a text around another moment than the turn's own."""
    return lambda patch: patch.setattr(normalize, "resolve_times", lambda text, own: resolve_times(text, at(own)))


def extracting(kept: Callable[[ExtractPerView], bool]) -> Install:
    """Keep the items of a turn only where ``kept`` says so."""

    class Changed(ExtractPerView):
        async def decide(self, message: Any, state: Any) -> Any:
            outcome: Any = await ExtractPerView.decide(self, message, state)
            if isinstance(outcome, Emit) and isinstance(outcome.message, Extracted) and not kept(self):
                return Emit(outcome.message.model_copy(update={"items": ()}), outcome.state)
            return outcome

    return lambda patch: patch.setattr(wiring, "ExtractPerView", Changed)


def often(stage: ExtractPerView) -> bool:
    """Count, in the stage and not in its state, how often it was asked."""
    asked: list[None] = vars(stage).setdefault("asked", [])
    asked.append(None)
    return len(asked) > 3


def by_chance(row: Any) -> Any:
    return row.model_copy(update={"id": str(uuid4())}) if getattr(row, "kind", None) is RecordKind.WINDOW else row


async def test_stages_are_pure(tmp_path: Path) -> None:
    await check(tmp_path)


@each(
    Mutation("a stage reads the clock", dated(lambda _at: datetime.now(UTC)), "memory has other bytes"),
    Mutation("a stage reads the zone of the machine", dated(lambda at: at.astimezone()), "memory has other bytes"),
    Mutation(
        "a stage reads the environment", extracting(lambda _stage: MARKER not in os.environ), "memory has other bytes"
    ),
    Mutation("ids are random", rewriting(Commit, by_chance), "memory has other bytes"),
    Mutation("chance decides", extracting(lambda _stage: random.random() < 0.5), "memory has other bytes"),
    Mutation("a stage remembers beside its state", extracting(often), "memory has other bytes"),
)
async def test_an_impure_stage_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path)


FAULT = ""
"""Code that breaks a stage in the processes of ``check_orders``: a patch made here does not reach them."""

LIFE = """
import asyncio, sys
from pathlib import Path
from infra.models import HashEmbedder
from infra.stages import topology
from schemas.space import Space
from streams.embedded import Embedded
from streams.journal import Journal
from streams.patience import Patience
from tests.fakes.index import MemoryIndex

space, embedder = Space(sys.argv[2]), HashEmbedder()
journal, index = Journal(Path(sys.argv[1])), MemoryIndex(embedder.dimension)
journal.append(space, sys.stdin.buffer.read().splitlines())
asyncio.run(Embedded(topology(embedder, index, 1_000_000), journal, index, Patience(tries=1)).run())
for row in journal.memory(space):
    print(row)
journal.close()
"""
"""A life as that of a ``RealHome``, whose own imports would take a process twice as long."""


def check_orders(folder: Path) -> None:
    """Memory is the same in processes that hash texts otherwise, so whose sets have other orders."""
    with ThreadPoolExecutor() as pool:
        here, there = pool.map(lambda seed: _life(folder / f"{seed}.sqlite", seed), ("1", "2"))
    assert here.count(b'"row":"record"') > 30, "nothing was remembered"
    assert here == there, "memory has the order of a set"


def _life(journal: Path, seed: str) -> bytes:
    """Return the rows of memory that a process of its own makes of a log."""
    command = [sys.executable, "-c", FAULT + LIFE, str(journal), SPACE]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    log = b"\n".join(story(12))
    return subprocess.run(command, check=True, cwd=ROOT, env=environment, input=log, stdout=subprocess.PIPE).stdout


def test_no_order_of_a_set_shows(tmp_path: Path) -> None:
    check_orders(tmp_path)


def set_of_keywords(patch: pytest.MonkeyPatch) -> None:
    """Let the keywords of a turn come in the order of a set instead of sorted by weight."""
    fault = "from stages.normalize import understanding\nunderstanding.sorted = lambda words, **_: list(set(words))\n"
    patch.setattr(sys.modules[__name__], "FAULT", fault)


@each(Mutation("the order of a set decides", set_of_keywords, "memory has the order of a set"))
def test_an_order_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        check_orders(tmp_path)


async def untouched(folder: Path) -> None:
    """What a stage was given is the same after it decided, so that a record can be decided again."""
    home = RealHome(folder)
    seen: list[bool] = []

    def watched(decide: Any) -> Any:
        async def watching(stage: Any, message: Any, state: Any) -> Any:
            before, given = dict(state.parts()), message.model_copy(deep=True)
            outcome = await decide(stage, message, state)
            seen.append(dict(state.parts()) == before and message == given)
            return outcome

        return watching

    with pytest.MonkeyPatch.context() as patch:
        for node in home.wire(home.embedder, home.index):
            patch.setattr(type(node.stage), "decide", watched(type(node.stage).decide))
        await home.tell(LOG[:8])
    assert len(seen) >= 40
    assert all(seen), "a stage changed what it was given"


def pushed_in_place(patch: pytest.MonkeyPatch) -> None:
    push = Ring.push

    def pushed(ring: Ring[Any], *entries: Any, keep_from: int) -> Ring[Any]:
        object.__setattr__(ring, "entries", push(ring, *entries, keep_from=keep_from).entries)
        return ring

    patch.setattr(Ring, "push", pushed)


async def test_the_old_state_stays_as_it_was(tmp_path: Path) -> None:
    await untouched(tmp_path)


@each(Mutation("a state grows in place", pushed_in_place, "a stage changed what it was given"))
async def test_a_changed_state_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await untouched(tmp_path)
