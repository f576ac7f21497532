"""Every item is routed, however many a turn has; windows around a revision; a change in the bundled conversation."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra import demo
from schemas.memory import CloseCause, EdgeType, RecordKind, RecordRow
from schemas.turn import Speaker
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import Flow

SIX = "I live in Oslo. I work as a nurse. I'm single. My favourite colour is blue. I love jazz. I'm vegetarian."
FIVE = "I moved to Berlin. I work as a teacher now. I got married. I can't stand jazz now. I eat meat again."
BUSY = " ".join(f"My favourite {what} is {what}er." for what in "song game plant tree fish bird tool soup".split())


@pytest.mark.parametrize("before", [SIX, f"{SIX} {BUSY}", f"{BUSY} {SIX}"])
@pytest.mark.parametrize("after", [FIVE, f"{FIVE} {BUSY.replace('er.', 'est now.')}"])
async def test_every_change_of_a_busy_turn_is_seen(before: str, after: str) -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say(before)
    await flow.say("Good evening from the coast.")
    await flow.say(after, days=90)
    for n in range(70):
        await flow.say(f"Number {n} passes by.", days=90)
    await flow.drain()
    pairs = {(flow.text(row.id), flow.text(row.successor)) for row in flow.changed()}
    said_before = {row.text for row in flow.records(*KINDS) if row.since == 0}
    olds = {old for old, _new in pairs}
    for old, new in WANTED:
        if old in said_before and any(row.text.startswith(new) for row in flow.records(*KINDS) if row.since == 2):
            assert old in olds, (old, sorted(pairs))
    flow.check()


KINDS = (RecordKind.EVENT, RecordKind.FACT, RecordKind.ATTRIBUTE)
WANTED = [
    ("Mia lives in Oslo.", "Mia moved to Berlin"),
    ("Mia works as a nurse.", "Mia works as a teacher"),
    ("Mia is single.", "Mia got married"),
    ("Mia loves jazz.", "Mia can't stand jazz"),
    ("Mia is vegetarian.", "Mia eats meat"),
]


async def test_five_changes_of_six_attributes_are_five_rows_as_soon_as_they_leave() -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say(SIX)
    await flow.say(FIVE, days=90)
    await flow.drain()
    assert sorted((flow.text(row.id), flow.text(row.successor).split()[1]) for row in flow.changed()) == sorted(
        (old, new.split()[1]) for old, new in WANTED
    )


async def test_what_waits_is_routed_once_when_memory_shows_it() -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("I own a red car. " * 2 + BUSY)
    await flow.say(BUSY.replace(" is ", " is still "))
    await flow.drain()
    waiting = flow.routing.waiting
    assert waiting, "the turns have more than the state can compare"
    for n in range(66):
        await flow.say(f"Number {n} passes by.")
    assert flow.routing.waiting == ()
    supports = [(edge.source, edge.target) for edge in flow.edges(EdgeType.SUPPORTS)]
    assert len(supports) == len(set(supports))
    flow.check()


def _windows(flow: Flow) -> set[str]:
    """Return the texts of the windows that are open."""
    closed = {row.id for row in flow.closed(CloseCause.REVISION)}
    return {row.text for row in flow.records(RecordKind.WINDOW) if row.id not in closed}


async def test_the_windows_around_a_revision_come_back_with_its_text_also_twice() -> None:
    flow = Flow(embedder=DigestEmbedder())
    for n in range(5):
        await flow.say(f"Line {n}.", f"t{n}")
    await flow.say("Line two.", "t2", revision=1)
    assert _windows(flow) == {
        "Mia: Line 0.\nMia: Line 1.",
        "Mia: Line 0.\nMia: Line 1.\nMia: Line two.",
        "Mia: Line 1.\nMia: Line two.\nMia: Line 3.",
        "Mia: Line two.\nMia: Line 3.\nMia: Line 4.",
    }
    await flow.say("Line three.", "t3", revision=1)
    await flow.say("Line TWO.", "t2", revision=2)
    assert _windows(flow) == {
        "Mia: Line 0.\nMia: Line 1.",
        "Mia: Line 0.\nMia: Line 1.\nMia: Line TWO.",
        "Mia: Line 1.\nMia: Line TWO.\nMia: Line three.",
        "Mia: Line TWO.\nMia: Line three.\nMia: Line 4.",
    }
    flow.check()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=8), st.integers(3, 50))
async def test_windows_show_no_former_text_and_each_turn_in_reach_has_one(which: list[int], turns: int) -> None:
    flow, revisions = Flow(embedder=DigestEmbedder()), dict[str, int]()
    for n in range(turns):
        await flow.say(f"Line {n}-0.", f"t{n}")
    for n in which:
        name = f"t{n % turns}"
        revisions[name] = revisions.get(name, 0) + 1
        await flow.say(f"Line {n % turns}-{revisions[name]}.", name, revision=revisions[name])
    await flow.say("Last.", "last")
    flow.check()
    closed = {row.id for row in flow.closed(CloseCause.REVISION)}
    open_ones = [row for row in flow.records(RecordKind.WINDOW) if row.id not in closed]
    anchors = [row.provenance[0] for row in open_ones]
    assert len(anchors) == len(set(anchors))
    newest = {f"Mia: Line {n}-{revisions.get(f't{n}', 0)}." for n in range(turns)} | {"Mia: Last."}
    assert {line for row in open_ones for line in row.text.split("\n")} <= newest
    if turns < 32 - len(which):
        assert set(anchors) == {f"t{n}" for n in range(turns)}


def _turns() -> list[dict[str, object]]:
    path = Path(demo.__file__).parent / "conversation.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_the_changed_diet_of_the_bundled_conversation_is_a_change() -> None:
    flow = Flow(embedder=DigestEmbedder())
    for one in _turns():
        told = {name: one[name] for name in ("reply_to", "session") if name in one}
        speaker, at = Speaker.model_validate_json(json.dumps(one["speaker"])), datetime.fromisoformat(str(one["at"]))
        await flow.say(str(one["text"]), str(one["turn_id"]), speaker=speaker, at=at, **told)
    await flow.drain()
    records = {row.id: row for row in flow.rows if isinstance(row, RecordRow)}
    links = {(records[row.id].provenance[0], records[row.successor].provenance[0]) for row in flow.changed()}
    assert ("c1:6", "c9:2") in links
    read = next(row for row in records.values() if "wants to read it" in row.text and row.key is not None)
    assert read.key is not None
    assert read.key.attribute == "plans:read"
    assert any(row.text.startswith("Ravi and Mia live above") for row in records.values())
