"""Invariant 8: an event ends committed, or as a letter with stage, reason and original bytes, or is a counted repeat.

The check publishes all that can become of an event, with a stage that refuses one turn and crashes at another, and
asks what a user can ask: the sums, the fate of each turn, the letters.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.memory import OutcomeState
from schemas.space import Space
from stages.commit import Commit
from stages.contract import Reject
from stages.ports import Embedder
from stages.route import Route
from streams import lane as lanes
from streams.engine import Engine
from streams.lane import Lane
from streams.letters import write
from streams.numbering import number
from streams.stopped import BrokenOrder, StageCrashed
from streams.topology import Topology
from tests.fakes.index_suite import Index
from tests.fakes.mutations import Mutation, each, rewriting
from tests.fakes.real_home import SPACE, RealHome, mixed, said, wired

REFUSED, CRASHING = "refused", "crashing"
ODD = {
    "blank": said("blank", " ", minutes=1300),
    "odd": said("odd", "hello", at="noon"),
    "away": said("away", "I live in Paris.", "evil/u-9"),
    "t7": said("t7", "I said something else.", minutes=1400),
    REFUSED: said(REFUSED, "Nobody wants this.", minutes=1500),
    CRASHING: said(CRASHING, "Nobody can bear this.", minutes=1501),
    None: b"no turn at all",
}
"""The events that become letters, by turn id."""

LOG = [*mixed(), ODD[REFUSED], ODD[CRASHING], said("last", "I love herrings.", minutes=1600)]


class Fussy(Route):
    """Refuses one turn and breaks down at another."""

    async def decide(self, message: Any, state: Any) -> Any:
        match message.header.event_id:
            case "refused":
                return Reject("it is not wanted", input_fault=False)
            case "crashing":
                msg = "it cannot be borne"
                raise ZeroDivisionError(msg)
        return await Route.decide(self, message, state)


def fussy(embedder: Embedder, index: Index) -> Topology:
    stage = Fussy(index, embedder.model)
    nodes = wired(embedder, index).nodes
    return Topology(tuple(replace(node, stage=stage) if node.name == "route" else node for node in nodes))


async def check(folder: Path) -> None:
    """Each event is counted once, each turn has its fate, and each letter is whole."""
    home = RealHome(folder, wire=fussy)
    home.publish(LOG)
    for _ in range(3):
        try:
            await home.run()
        except StageCrashed:
            continue  # it stops the run until the third time, which makes a letter
    told(home)
    sums = home.sums()
    ended = sums.committed + sums.lettered + sums.duplicates + sums.forgotten + sums.pending
    assert sums.published == len(LOG) == ended, "the sum does not come out"
    assert sums.pending == 0, "events are pending for ever"
    assert (sums.committed, sums.lettered, sums.duplicates) == (14, 7, 2), "an event is counted as what it is not"


def told(home: RealHome) -> None:
    """Each turn and each letter say what became of it."""
    letters = {letter.turn_id: letter for letter in home.letters()}
    assert letters.keys() == ODD.keys(), "a refusal left no letter"
    for turn_id, body in ODD.items():
        letter = letters[turn_id]
        if letter.topic == "turns":
            assert letter.original == body, "a letter has not the original bytes"
        else:
            assert (turn_id or "").encode() in letter.original, "a letter has not the original bytes"
        assert letter.stage, "a letter does not say its stage"
        assert letter.reason, "a letter does not say why"
    fates = {turn.turn_id: turn.state for turn in home.turns()}
    for turn_id in (REFUSED, CRASHING, "blank", "odd"):
        assert fates[turn_id] is OutcomeState.LETTERED, "a refused turn has no outcome"
    assert fates["last"] is OutcomeState.COMMITTED, "what came behind a letter is lost"


async def test_nothing_is_lost(tmp_path: Path) -> None:
    await check(tmp_path)


def swallowed(patch: pytest.MonkeyPatch) -> None:
    """A refusal by a later stage makes its marker, and no letter."""
    letter = Engine._letter

    def unless_later(engine: Engine[Any, Any, Any], lane: Lane[Any], record: Any, refusal: Any) -> None:
        if engine.is_first:
            letter(engine, lane, record, refusal)

    patch.setattr(Engine, "_letter", unless_later)


def unmarked(patch: pytest.MonkeyPatch) -> None:
    """A refusal makes its letter, and its position comes to an end there."""

    async def refuse(engine: Engine[Any, Any, Any], lane: Lane[Any], record: Any, refusal: Any) -> None:
        engine._letter(lane, record, refusal)
        lane.header = lane.header.passed(record.offset, lane._counted("lettered"))
        lane.cut.events += 1

    patch.setattr(Engine, "_refuse", refuse)


def taken_for_a_repeat(patch: pytest.MonkeyPatch) -> None:
    """What the first stage refuses is dropped, as a repeat is."""
    refuse = Engine._refuse

    async def refused(engine: Engine[Any, Any, Any], lane: Lane[Any], record: Any, refusal: Any) -> None:
        if engine.is_first:
            lane.drop(record)
        else:
            await refuse(engine, lane, record, refusal)

    patch.setattr(Engine, "_refuse", refused)


def good(row: Any) -> Any:
    return row.model_copy(update={"state": OutcomeState.COMMITTED}) if row.row == "outcome" else row


def emptied(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lanes, "write", lambda *given: write(*given).model_copy(update={"original": b""}))


def unnumbered(patch: pytest.MonkeyPatch) -> None:
    """What has no header is passed over: no letter, no count."""

    async def enter(engine: Engine[Any, Any, Any], lane: Lane[Any], record: Any) -> None:
        numbered = number(record, Space(SPACE), 0)
        if numbered.header is None:
            lane.header = lane.header.model_copy(update={"offset": record.offset})
            return
        await entered(engine, lane, record)

    entered = Engine._enter
    patch.setattr(Engine, "_enter", enter)


@each(
    Mutation("a refusal makes no letter", swallowed, "a refusal left no letter"),
    Mutation("what is no event is passed over", unnumbered, "a refusal left no letter"),
    Mutation("a marker is dropped", unmarked, "misses position", BrokenOrder),
    Mutation("a refusal is taken for a repeat", taken_for_a_repeat, "a refusal left no letter"),
    Mutation("a refusal is taken for success", rewriting(Commit, good), "a refused turn has no outcome"),
    Mutation("a letter forgets the original bytes", emptied, "a letter has not the original bytes"),
)
async def test_a_silent_loss_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(tmp_path)
