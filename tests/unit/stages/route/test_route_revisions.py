"""Revisions of a turn close what shows its former text, once."""

from __future__ import annotations

import pytest

from schemas.header import record_id
from schemas.memory import ITEM_KINDS, CloseCause, EdgeRow, EdgeType, RecordKind, RecordRow
from stages.contract import WINDOW
from stages.route import revision as revisions
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import SPACE, Flow


@pytest.mark.parametrize("between", [0, 1, 3, 90])
async def test_a_revision_takes_back_all_that_shows_the_former_text(between: int) -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("Good evening from the coast.", "first")
    await flow.say("I live in Oslo. I own a red car.", "second")
    for n in range(between):
        await flow.say(f"Number {n} passes by.")
    before = list(flow.rows)
    await flow.say("I live in Bergen. I own a red car.", "second", revision=1)
    closed = {row.id for row in flow.closed(CloseCause.REVISION)}
    shows = [
        row.id
        for row in before
        if isinstance(row, RecordRow) and ("Oslo" in row.text or (row.kind is RecordKind.TURN and row.since == 1))
    ]
    windows = [row for row in before if isinstance(row, RecordRow) and row.kind is RecordKind.WINDOW]
    assert set(shows) <= closed
    assert closed - set(shows) <= {row.id for row in windows if "second" in row.provenance} | {
        row.id for row in before if isinstance(row, RecordRow) and row.kind is RecordKind.TOPIC
    }
    cars = [row for row in flow.records(*ITEM_KINDS) if "red car" in row.text]
    assert len(cars) == 1
    assert not any("Oslo" in row.text for row in flow.records(RecordKind.WINDOW) if row.id not in closed)
    flow.check()


async def test_two_revisions_close_each_record_once() -> None:
    flow = Flow(embedder=DigestEmbedder())
    for n in range(6):
        await flow.say(f"I own the red car number {n}.", f"t{n}")
    for revision, name in ((1, "t2"), (1, "t3"), (2, "t2"), (1, "t5")):
        await flow.say(f"I own the blue car {revision} of {name}.", name, revision=revision)
    flow.check()


async def test_a_topic_that_others_speak_of_too_is_born_again_from_their_turns() -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("My piano is out of tune.", "a")
    await flow.say("My piano is out of tune.", "b")
    (born,) = flow.records(RecordKind.TOPIC)
    assert born.key is not None
    rows = await flow.say("I live in Bergen.", "a", revision=1)
    (again,) = [row for row in flow.records(RecordKind.TOPIC) if row.key == born.key and row != born]
    assert (born.provenance, again.provenance) == (("a",), ("b",))
    assert born.id in {row.id for row in flow.closed(CloseCause.REVISION)}
    assert {row.source for row in rows if isinstance(row, EdgeRow) and row.target == again.id} == {
        record_id(SPACE, 1, "turn")
    }
    await flow.say("My piano is out of tune.", "c")
    assert len([row for row in flow.records(RecordKind.TOPIC) if row.key == born.key]) == 2
    mentioning = {edge.source for edge in flow.edges(EdgeType.MENTIONS) if edge.target == again.id}
    assert record_id(SPACE, 3, "turn") in mentioning
    flow.check()


async def test_a_long_turn_is_taken_back_whole_however_long_ago_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has more records than are read at once."""
    monkeypatch.setattr(revisions, "_MANY", 2)
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("We talked about the garden, the gate and the spring. " * 60, "long")
    for n in range(2 * WINDOW):
        await flow.say(f"Number {n} passes by.")
    former = [row.id for row in flow.records(RecordKind.TURN) if row.provenance == ("long",)]
    await flow.say("Never mind.", "long", revision=1)
    assert len(former) > 3
    assert set(former) <= {row.id for row in flow.closed(CloseCause.REVISION)}
