"""The last stage in the engine: what it refuses gets a letter and an outcome, what others refused an outcome."""

from __future__ import annotations

from typing import Any

import pytest

from infra.models import HashEmbedder
from schemas.header import EventKind, Header, Skipped
from schemas.memory import OutcomeRow, OutcomeState
from schemas.routed import Routed
from stages.commit import Commit, CommitState
from stages.contract import Reject
from streams.effects import Inbound
from streams.stopped import StageCrashed
from streams.topology import COMMIT
from tests.fakes.recorder import SPACE, Recorder, log, wired
from tests.fakes.runtime import topology


class Fussy(Commit):
    """A commit that refuses every event, and markers too if it is told so."""

    markers_too = False

    async def decide(self, message: Routed | Skipped, state: CommitState) -> Any:
        if isinstance(message, Skipped) and not self.markers_too:
            return await super().decide(message, state)
        return Reject("rows do not hold together\nsecond line", input_fault=False)


class Fussier(Fussy):
    markers_too = True


def last(recorder: Recorder, stage: Commit) -> Any:
    return wired(recorder, COMMIT.run_by(stage), is_last=True)


async def routed() -> Inbound:
    """Return an event as the stages before hand it on."""
    (record,) = log("hello there")
    for node in list(topology())[:-1]:
        recorder = Recorder()
        await wired(recorder, node, is_first=node.source.name == "turns").advance(SPACE, [record])
        (output,) = recorder.cuts[0].outputs
        record = Inbound(1, output.body, output.header)
    return record


def outcomes(recorder: Recorder) -> list[tuple[str, OutcomeState]]:
    rows = [row for cut in recorder.cuts for event in cut.committed for row in event.rows]
    return [(row.event_id, row.state) for row in rows if isinstance(row, OutcomeRow)]


async def test_an_event_is_committed_through_the_sink() -> None:
    recorder = Recorder()
    await last(recorder, Commit(HashEmbedder())).advance(SPACE, [await routed()])
    assert outcomes(recorder) == [("t1", OutcomeState.COMMITTED)]
    assert recorder.order == ["outputs", "sink", "state", "offset"]


async def test_what_the_last_stage_refuses_is_a_letter_with_an_outcome() -> None:
    recorder = Recorder()
    await last(recorder, Fussy(HashEmbedder())).advance(SPACE, [await routed()])
    assert outcomes(recorder) == [("t1", OutcomeState.LETTERED)]
    (letter,) = [letter for cut in recorder.cuts for letter in cut.letters]
    assert (letter.stage, letter.turn_id, letter.position, letter.input_fault) == ("commit", "t1", 0, False)
    assert letter.reason == "rows do not hold together\nsecond line"


async def test_a_marker_that_is_refused_is_a_bug_and_nothing_is_written() -> None:
    recorder = Recorder()
    header = Header(space=SPACE, position=0, kind=EventKind.TURN, event_id="t1", offset=1)
    marker = Skipped(header=header, stage="route", reason="crashed")
    with pytest.raises(StageCrashed, match=r"commit refused the marker .*'t1'.* of 'acme/u-1'"):
        await last(recorder, Fussier(HashEmbedder())).advance(
            SPACE, [Inbound(1, marker.model_dump_json().encode(), header, marker=True)]
        )
    assert recorder.cuts == []
