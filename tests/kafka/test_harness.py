"""The harness's own judgement: what it must not call equal, graceful or joined. No broker is needed here."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infra.bench.kafka import faults as module
from infra.bench.kafka import recovery as recovery_module
from infra.bench.kafka.alike import embedded, unlike
from infra.bench.kafka.faults import Faults
from infra.bench.kafka.load import Load
from infra.bench.kafka.phases import Timed
from infra.bench.kafka.recovery import Recovery, peak, standstill
from infra.bench.kafka.scaling import EvenLoad
from infra.bench.kafka.serving import Name
from infra.bench.kafka.shipped import compared
from infra.bench.kafka.states import spelled
from infra.bench.kafka.verdict import Verdict
from infra.settings import Settings
from streams.kafka.wire import partition_of
from streams.state import EMPTY, Counts, Saved, StateHeader, save
from streams.topology import FLOW


def state(*batches: int, offset: int = 0) -> Saved:
    """Return the state after so many events, saved in cuts of these sizes."""
    saved = EMPTY
    for batch in batches:
        counts = Counts(emitted=saved.header.counts.emitted + batch)
        header = StateHeader(position=counts.emitted - 1, offset=offset + counts.emitted, counts=counts)
        saved, _ = save(saved, header, {"count": b"%d" % counts.emitted, "name": b"same"})
    return saved


def test_states_are_equal_however_they_were_cut_and_wherever_their_input_lay() -> None:
    assert spelled(state(1, 1, 1)) == spelled(state(3)) == spelled(state(2, 1, offset=70))


@pytest.mark.parametrize("other", [state(2), state(3, 1), EMPTY], ids=["behind", "ahead", "none"])
def test_states_that_have_come_elsewhere_are_not_equal(other: Saved) -> None:
    assert spelled(state(3)) != spelled(other)


def test_what_differs_or_is_on_one_side_only_is_counted() -> None:
    theirs = {"a/a": {"route": b"1", "commit": b"2"}, "a/b": {"route": b"3"}}
    assert unlike(theirs, theirs) == 0
    assert unlike({"a/a": {"route": b"1", "commit": b"9"}, "a/c": {"route": b"3"}}, theirs) == 2
    assert unlike({"a/a": theirs["a/a"] | {"normalize": b"4"}, "a/b": theirs["a/b"]}, theirs) == 1


async def test_the_embedded_mode_gives_a_state_of_every_stage_for_every_space(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedder="hash")
    alone = await embedded(settings, Load(20, 2).events(), idle=True)
    assert alone.states.keys() == {"load/s0", "load/s1"}
    assert all(states.keys() == {step.name for step in FLOW} for states in alone.states.values())
    assert unlike(alone.states, (await embedded(settings, Load(20, 2, seed=2).events(), idle=True)).states) > 0


def test_an_even_load_gives_every_partition_as_much() -> None:
    events = list(EvenLoad(240, 240, partitions=6).events())
    assert set(Counter(partition_of(space, 6) for space, _ in events).values()) == {40}


@dataclass
class FakePlant:
    """Workers that are no processes; ``codes`` are what they end with."""

    code: int = 0
    workers: dict[tuple[str, int], Any] = field(default_factory=lambda: {("route", 0): None})
    broker: Any = field(default_factory=lambda: type("Broker", (), {"bootstrap": ""}))
    partitions: dict[str, int] = field(default_factory=dict)

    def start(self, stage: str, number: int) -> None:
        self.workers[stage, number] = None

    def leave(self, stage: str, number: int) -> int:
        del self.workers[stage, number]
        return self.code


@pytest.mark.parametrize(
    ("what", "code", "serves", "odd"),
    [
        ("leave", 0, 1, 0),
        ("leave", -15, 1, 1),
        ("leave", 0, 0, 1),
        ("join", 0, 2, 0),
        ("join", 0, 1, 1),
    ],
)
def test_leaves_that_are_not_graceful_and_joins_of_nothing_are_told(
    what: str, code: int, serves: int, odd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "serving", lambda _servers, workers: dict.fromkeys(list(workers)[:serves], 1))
    monkeypatch.setattr(module, "_PATIENCE_S", 0.0)
    told: list[str] = []
    faults = Faults(FakePlant(code), 1, told.append, pause=(0, 0))  # type: ignore[arg-type]  # workers are no processes
    asyncio.run(faults.go_through([what]))
    assert len(faults.odd) == odd
    assert set(faults.odd) <= set(told)
    assert Verdict(odd=len(faults.odd)).is_clean == (odd == 0)


_LOOK_S = 0.05


async def _recovered(answers: Sequence[Mapping[Name, int]], *faults: tuple[str, str, Name | None]) -> Recovery:
    """Let ``faults`` begin, and answer each look with the next of ``answers``, as long as there are some."""
    looks = iter(answers)

    async def serving() -> Mapping[Name, int]:
        return next(looks, {})

    recovery = Recovery(serving, {"route": 4, "commit": 4}, lambda: [os.getpid()])
    for fault in faults:
        recovery.begun(*fault)
    watching = asyncio.create_task(recovery.watch())
    await asyncio.sleep(_LOOK_S * (len(answers) + 2))
    watching.cancel()
    return recovery


async def test_a_fault_is_over_when_its_stage_is_served_whole_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_module, "_LOOK_S", _LOOK_S)
    half, whole = {("route", 0): 2, ("commit", 0): 4}, {("route", 0): 2, ("route", 1): 2, ("commit", 0): 4}
    one = await _recovered(
        [half, half, whole], ("kill", "route", None), ("leave", "commit", None), ("x", "route", ("route", 9))
    )
    assert one.times.keys() == {"kill", "leave"}
    assert one.times["leave"][0] < 0.1 < one.times["kill"][0]
    assert any("after x route was not seen whole again" in line for line in one.told())


async def test_a_join_is_over_when_the_new_worker_serves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_module, "_LOOK_S", _LOOK_S)
    before, after = {("route", 0): 4}, {("route", 0): 2, ("route", 91): 2}
    one = await _recovered([before, before, after], ("join", "route", ("route", 91)))
    assert one.times["join"][0] > 0.1


def test_memory_is_that_of_the_largest_and_a_process_that_is_gone_has_none() -> None:
    assert peak(os.getpid()) > 10 * 2**20
    assert peak(2**22 + 1) == 0


def test_a_standstill_is_the_longest_time_between_two_ends() -> None:
    assert standstill([3.0, 1.0, 1.5]) == 1.5
    assert standstill([1.0]) == standstill([]) == 0.0


def test_the_engine_is_told_as_a_multiple_of_the_baseline() -> None:
    fast, slow = Timed(1500, (0.1,) * 30, 0), Timed(500, (0.1,) * 30, 0)
    told = compared([(fast, slow), (slow, slow)])
    assert "by turns: 500 turns/s, the engine 750; ratio 1.50 (at least 2.4; in each turn 3.00, 1.00)" in told
