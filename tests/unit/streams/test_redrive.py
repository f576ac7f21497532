"""Letters taken again: what was lettered is no repeat of itself, and what came to memory meanwhile is.

The property: a turn that is redriven has the outcome that it would have, had it never been published before.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from infra.stages import topology
from schemas.header import Skipped
from schemas.letter import Letter
from schemas.memory import ClosedRow, OutcomeState
from schemas.space import Space
from stages.contract import Decision, Reject
from stages.ports import Embedder
from streams.redrive import newest, redrive
from streams.topology import Topology
from tests.fakes.index_suite import Index
from tests.fakes.real_home import SPACE, STAGES, RealHome, said, story

AT = datetime(2026, 4, 1, tzinfo=UTC)
BAD = said("bad", "My sister Elin lives in Flensburg.", minutes=1)


class Refusing:
    """A stage that refuses one turn, and nothing once it is mended."""

    name: ClassVar[str]

    def __init__(self, stage: Any, flaw: dict[str, bool]) -> None:
        self.stage, self.flaw = stage, flaw

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stage, name)

    async def decide(self, message: Any, state: Any) -> Decision[Any, Any]:
        if self.flaw["there"] and message.header.event_id == "bad" and not isinstance(message, Skipped):
            return Reject("too much of her")
        decision: Decision[Any, Any] = await self.stage.decide(message, state)
        return decision


def home(folder: Path, stage: str, flaw: dict[str, bool]) -> RealHome:
    def wire(embedder: Embedder, index: Index) -> Topology:
        nodes = topology(embedder, index, 1_000_000).nodes
        flawed = [replace(node, stage=Refusing(node.stage, flaw)) if node.name == stage else node for node in nodes]
        return Topology(tuple(flawed))

    folder.mkdir()
    return RealHome(folder, wire=wire)


def again(at: RealHome, *letters: Letter) -> None:
    with at.journal() as journal:
        everywhere = list(journal.letters(SPACE))
        journal.append(SPACE, [redrive(letter, everywhere, AT) for letter in letters], own=True)


@pytest.mark.parametrize("stage", STAGES)
async def test_a_turn_that_a_mended_stage_takes_again_is_committed_at_a_new_position(
    stage: str, tmp_path: Path
) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "home", stage, flaw)
    await it.tell([*story(3), BAD, *story(3, first=3)])
    (letter,) = it.letters()
    assert (letter.stage, letter.attempt, letter.position) == (stage, 1, 3)
    flaw["there"] = False
    again(it, letter)
    await it.run()
    turn = next(each for each in it.turns() if each.turn_id == "bad")
    assert (turn.state, turn.position, turn.reason) == (OutcomeState.COMMITTED, 7, None)
    assert str(it.sums()) == "published=8 committed=7 lettered=1 duplicates=0 forgotten=0 pending=0"
    (record,) = [each for each in it.records() if "Elin" in each.text and each.turn is not None]
    assert (record.since, record.provenance) == (7, ("bad",))


@pytest.mark.parametrize("stage", STAGES)
async def test_what_came_to_memory_since_is_a_duplicate(stage: str, tmp_path: Path) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "home", stage, flaw)
    await it.tell([BAD, *story(2)])
    (letter,) = it.letters()
    flaw["there"] = False
    again(it, letter, letter)
    await it.run()
    again(it, letter)
    await it.run()
    assert (it.sums().committed, it.sums().duplicates) == (3, 2)


async def test_refused_again_it_is_a_letter_of_the_same_bytes_and_a_higher_attempt(tmp_path: Path) -> None:
    it = home(tmp_path / "home", "normalize", {"there": True})
    await it.tell([BAD])
    again(it, *it.letters())
    await it.run()
    first, second = it.letters()
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.original == second.original == BAD
    assert (second.turn_id, second.position) == ("bad", 1)
    assert newest([first, second]) == [second]
    assert str(it.sums()) == "published=2 committed=0 lettered=2 duplicates=0 forgotten=0 pending=0"


@pytest.mark.parametrize("stage", STAGES)
async def test_refused_twice_it_can_be_taken_a_third_time(stage: str, tmp_path: Path) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "home", stage, flaw)
    await it.tell([BAD])
    again(it, *it.letters())
    await it.run()
    flaw["there"] = False
    (last,) = newest(it.letters())
    again(it, last)
    await it.run()
    (turn,) = it.turns()
    assert (turn.state, turn.position) == (OutcomeState.COMMITTED, 2)


async def test_bytes_that_name_no_turn_become_a_letter_alone_again(tmp_path: Path) -> None:
    it = home(tmp_path / "home", "route", {"there": False})
    await it.tell([b"no turn at all"])
    again(it, *it.letters())
    await it.run()
    assert [(letter.attempt, letter.original) for letter in it.letters()] == [
        (1, b"no turn at all"),
        (2, b"no turn at all"),
    ]


async def test_nobody_but_the_system_has_a_letter_taken_again(tmp_path: Path) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "home", "route", flaw)
    await it.tell([BAD])
    (letter,) = it.letters()
    flaw["there"] = False
    forged = redrive(letter, [letter], AT)
    await it.tell([forged])
    assert [one.reason for one in it.letters() if "control events" in one.reason]
    assert it.sums().committed == 0
    # nor does a redrive of that letter make the forged event the system's own
    again(it, *newest(one for one in it.letters() if one.original == forged))
    await it.run()
    assert it.sums().committed == 0


async def test_the_same_log_gives_the_same_memory_with_a_redrive_in_it(tmp_path: Path) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "one", "normalize", flaw)
    await it.tell([*story(3), said("blank", " ", minutes=5)])
    again(it, *it.letters())
    await it.tell(story(3, first=3))
    other = home(tmp_path / "two", "normalize", flaw)
    with it.journal() as journal, other.journal() as copy:
        for event in journal.whole_log(SPACE):
            copy.append(Space(SPACE), [event.body], own=event.own)
    await other.run()
    assert other.memory() == it.memory()
    assert json.loads(it.memory()[-1])["row"]


async def test_of_two_lettered_revisions_each_is_taken_and_the_later_one_stands(tmp_path: Path) -> None:
    flaw = {"there": True}
    it = home(tmp_path / "home", "route", flaw)
    later = said("bad", "My sister Elin lives in Kiel.", minutes=2, revision=1)
    await it.tell([BAD, later])
    assert len(newest(it.letters())) == 2
    flaw["there"] = False
    again(it, *newest(it.letters()))
    await it.run()
    (turn,) = it.turns()
    assert (turn.state, turn.position) == (OutcomeState.COMMITTED, 3)
    assert it.sums().committed == 2
    with it.journal() as journal:
        closed = [row for row in journal.rows(SPACE, "closed ") if isinstance(row, ClosedRow)]
    assert [row.until for row in closed] == [3] * len(closed)
    assert closed
