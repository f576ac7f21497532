"""Invariant 2: a stage is a function of message and state; same input, same bytes out.

The check lets the same log run twice: here and now in one go, and decades later, in another zone, environment and state
of luck, by new stages every few events.
"""

from __future__ import annotations

import random
from collections.abc import Callable
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
from tests.fakes.real_home import RealHome, said, story

LOG = [*story(20), said("blank", " ", minutes=5000), said("odd", "x", at="noon"), *story(4, first=20)]


async def check(folder: Path) -> None:
    """All that is stored is the same, byte for byte."""
    here, there = RealHome(folder / "here"), RealHome(folder / "there")
    for home in (here, there):
        home.folder.mkdir()
    await here.tell(LOG)
    with elsewhere():
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
    Mutation("ids are random", rewriting(Commit, by_chance), "memory has other bytes"),
    Mutation("chance decides", extracting(lambda _stage: random.random() < 0.5), "memory has other bytes"),
    Mutation("a stage remembers beside its state", extracting(often), "memory has other bytes"),
)
async def test_an_impure_stage_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path)


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
