"""Invariant 1: outputs, then the sink, then the state, then the offset, each acknowledged before the next.

The check lets the process die before and after every durable act of each stage's cut in turn (a transaction of the
journal, a write of the index), looks each time at what is durable then, and holds the end against a run that nobody
disturbed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schemas.memory import OutcomeRow
from streams.codec import canonical
from streams.effects import Cut
from streams.embedded import _Ports
from streams.engine import Engine
from streams.journal import Journal
from streams.lane import Lane
from tests.fakes.index import MemoryIndex
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.real_home import SPACE, STAGES, RealHome, mixed, story
from tests.fakes.runtime import Died

TOPICS = ("turns.normalized", "turns.localized", "turns.extracted", "turns.routed")
MOMENTS = dict.fromkeys(STAGES, 6) | {"commit": 10}
"""The moments of a stage's cut to die at, with its acts written apart: before and after each of them."""

DEATHS = [(stage, moment) for stage, moments in MOMENTS.items() for moment in range(1, moments + 1)]
LOG = [*mixed(), *story(2 * len(DEATHS) - len(mixed()), first=20)]

_cutting: ContextVar[str] = ContextVar("_cutting", default="")


@dataclass
class Mortal:
    """Ends the process at the ``left``-th moment of a stage's cuts, those being before and after each durable act.

    Each stage counts for itself, so that how the stages take turns says nothing of what is torn.
    """

    stage: str
    left: int

    def moment(self) -> None:
        self.left -= _cutting.get() == self.stage
        if self.left == 0:
            raise Died

    def install(self, patch: pytest.MonkeyPatch) -> None:
        transaction, write, perform = Journal.transaction, MemoryIndex.write, Engine._perform

        async def performed(engine: Engine[Any, Any, Any], lane: Lane[Any]) -> None:
            before = _cutting.set(engine.node.name)
            try:
                await perform(engine, lane)
            finally:
                _cutting.reset(before)

        @contextmanager
        def in_transaction(journal: Journal, *, synced: bool = False) -> Iterator[None]:
            self.moment()
            with transaction(journal, synced=synced):
                yield
            self.moment()

        async def written(index: MemoryIndex, *args: Any) -> None:
            self.moment()
            await write(index, *args)
            self.moment()

        patch.setattr(Engine, "_perform", performed)
        patch.setattr(Journal, "transaction", in_transaction)
        patch.setattr(MemoryIndex, "write", written)


async def check(folder: Path, calm: RealHome) -> int:
    """Nothing durable says more than what it rests on, at any moment; and in the end all is as if nobody had died.

    Returns how many runs died: how many moments a cut has is how its acts are written.
    """
    home, deaths = RealHome(folder), 0
    for n, (stage, moment) in enumerate(DEATHS):
        home.publish(LOG[2 * n : 2 * n + 2])
        with pytest.MonkeyPatch.context() as patch:
            Mortal(stage, moment).install(patch)
            try:
                await home.run()
            except* Died:
                deaths += 1
        await standing(home)
    await home.run()
    await standing(home)
    assert home.memory() == calm.memory(), "memory differs from that of an undisturbed run"
    assert await home.indexed() == await calm.indexed(), "the index differs from that of an undisturbed run"
    assert home.letters() == calm.letters(), "letters differ from those of an undisturbed run"
    assert home.sums() == calm.sums(), "the sums differ from those of an undisturbed run"
    return deaths


async def standing(home: RealHome) -> None:
    """What is durable now rests on what is durable too."""
    memory = set(home.memory())
    shown = [canonical(found.record) for found in await home.indexed()]
    assert memory.issuperset(shown), "the index shows what memory lacks"
    with home.journal() as journal:
        finished = {stage: journal.position(stage, SPACE) for stage in STAGES}
        for stage, position in finished.items():
            assert position <= journal.header(stage, SPACE).position, "an offset is ahead of its state"
        for stage, topic in zip(STAGES, TOPICS, strict=False):
            written = [record.header for record in journal.read_records(topic, SPACE, 0, 10_000)]
            known = journal.header(stage, SPACE).position
            assert known < len(written), "a state is ahead of its outputs"
        outcomes = [row for row in journal.rows(SPACE, "outcome ") if isinstance(row, OutcomeRow)]
        assert finished["commit"] < len(outcomes), "commit's offset is ahead of memory"
    assert finished["commit"] <= await home.index.watermark(SPACE), "commit's offset is ahead of the index"


def in_order(effects: str) -> Install:
    """Perform the effects of every cut in another order."""

    async def perform(engine: Engine[Any, Any, Any], lane: Lane[Any]) -> None:
        if lane.is_clean:
            return
        cut, saved = lane.seal()
        for name in effects.split():
            if name != "sink" or cut.committed:
                await getattr(engine.effects, name)(cut)
        lane.settle(saved)

    return lambda patch: patch.setattr(Engine, "_perform", perform)


def in_steps(*steps: tuple[str, ...]) -> Install:
    """Write the one transaction that ends a cut as several, a step each."""

    async def offset(ports: _Ports, cut: Cut) -> None:
        for step in steps:
            with ports.journal.transaction():
                for what in step:
                    _write(ports, cut, what)
        ports.done(ports.node, cut)

    return lambda patch: patch.setattr(_Ports, "offset", offset)


def _write(ports: _Ports, cut: Cut, what: str) -> None:
    match what:
        case "outputs" if ports.index is None:
            ports.journal.write_records(ports.node.target.name, cut)
            ports.journal.write_letters(cut)
        case "state":
            ports.journal.write_state(cut)
        case "offset":
            ports.journal.write_offset(cut)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> RealHome:
    home = RealHome(tmp_path_factory.mktemp("calm"))
    asyncio.run(home.tell(LOG))
    return home


async def test_the_order_of_effects_holds(tmp_path: Path, calm: RealHome) -> None:
    assert await check(tmp_path, calm) >= 4 * 2 + 6


@pytest.mark.parametrize(
    ("same", "deaths"),
    [
        (in_order("outputs sink state offset"), 4 * 2 + 6),
        (in_steps(("outputs",), ("state",), ("offset",)), len(DEATHS)),
    ],
    ids=["the effects spelled out", "three transactions in the right order"],
)
async def test_the_order_holds_however_it_is_written(
    tmp_path: Path, calm: RealHome, monkeypatch: pytest.MonkeyPatch, same: Install, deaths: int
) -> None:
    same(monkeypatch)
    assert await check(tmp_path, calm) >= deaths


@each(
    Mutation("the index before memory", in_order("sink outputs state offset"), "the index shows what memory lacks"),
    Mutation(
        "the offset before the index", in_order("outputs state offset sink"), "commit's offset is ahead of the index"
    ),
    Mutation("the offset before memory", in_order("state offset outputs sink"), "commit's offset is ahead of memory"),
    Mutation(
        "the offset before the state",
        in_steps(("outputs",), ("offset",), ("state",)),
        "an offset is ahead of its state",
    ),
    Mutation("the state before the outputs", in_steps(("state",), ("outputs", "offset")), "ahead of its outputs"),
    Mutation("the outputs after all else", in_steps(("state", "offset"), ("outputs",)), "ahead of its outputs"),
)
async def test_another_order_is_caught(tmp_path: Path, calm: RealHome, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path, calm)
