"""Items of a chunk's earlier turn: whose record they are, and what takes them back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from schemas.extracted import Extracted
from schemas.header import record_id
from schemas.memory import ITEM_KINDS, CloseCause, EdgeType, RecordKind, RecordRow
from stages.route.routers import Changes
from stages.route.targets import Reader
from tests.fakes.flow import BEN, BOT, MIA, SPACE, START
from tests.fakes.language_model import Scripted
from tests.fakes.reader import Listening, each_turn, plain, said


def items(flow: Listening) -> list[RecordRow]:
    return flow.records(*ITEM_KINDS)


def both(request: Any) -> object:
    """Answer with one item for each turn, in its own words."""
    if not request.prompt.name.endswith(".extract"):
        return each_turn(request)
    told = json.loads(request.data)["turns"]
    return {"items": [said(one["n"], one["text"], one["text"], owner=one["speaker"], views=[10]) for one in told]}


async def test_a_record_tells_of_the_turn_that_it_quotes() -> None:
    flow = Listening()
    await flow.pair("I live in Oslo.", session="s1", days=2)
    (record,) = items(flow)
    (turn,) = [row for row in flow.records(RecordKind.TURN) if row.provenance == ("t0",)]
    assert (record.speaker, record.at, record.session, record.owner) == (MIA, turn.at, "s1", MIA.id)
    assert (record.since, record.said_at, record.provenance, record.view_set) == (1, 0, ("t0",), 1)
    supporting = [edge.source for edge in flow.edges(EdgeType.SUPPORTS) if edge.target == record.id]
    assert supporting == [record_id(SPACE, 0, "turn")]
    flow.check()


@pytest.mark.parametrize("between", [0, 66])
async def test_a_revision_takes_back_what_its_former_text_said_even_if_it_came_later(between: int) -> None:
    flow = Listening(language=Scripted(both))
    await flow.say("I live in Oslo.", "first")
    await flow.say("Oslo is lovely.", "second", speaker=BOT)
    for number in range(between):
        await flow.say(f"Number {number} passes by.")
    opener, reply = items(flow)[:2]
    await flow.say("I live in Bergen.", "first", revision=1)
    gone = {row.id for row in flow.closed(CloseCause.REVISION)}
    assert opener.id in gone
    assert reply.id not in gone
    assert [row.text for row in items(flow) if row.id not in gone and row.provenance == ("first",)] == [
        "I live in Bergen."
    ]
    flow.check()


@pytest.mark.parametrize("between", [0, 66])
@pytest.mark.parametrize("revised", ["first", "second"])
async def test_of_two_turns_that_were_read_together_a_revision_takes_back_ones_own(between: int, revised: str) -> None:
    flow = Listening(language=Scripted(both))
    await flow.say("I live in Oslo.", "first")
    await flow.say("I own a cello.", "second", speaker=BEN)
    await flow.say("It is late.", "third")
    told = {row.provenance[0]: row for row in items(flow)}
    assert [(row.since, row.said_at, row.speaker) for row in told.values()] == [(2, 0, MIA), (2, 1, BEN)]
    for number in range(between):
        await flow.say(f"Number {number} passes by.")
    speaker = told[revised].speaker or MIA
    await flow.say("I own nothing.", revised, speaker=speaker, revision=1)
    gone = {row.id for row in flow.closed(CloseCause.REVISION)}
    assert [name for name in ("first", "second") if told[name].id in gone] == [revised]
    flow.check()


async def test_what_two_people_say_in_the_same_words_is_said_twice() -> None:
    flow = Listening(language=Scripted(both))
    await flow.say("I live in Oslo.", "first")
    await flow.say("I live in Oslo.", "second", speaker=BEN)
    await flow.say("It is late.", "third")
    assert [(row.owner, row.provenance) for row in items(flow)] == [(MIA.id, ("first",)), (BEN.id, ("second",))]
    flow.check()


async def test_a_change_told_right_after_what_it_changes_is_one_though_both_were_read_together() -> None:
    flow = Listening()
    await flow.say("I live in Oslo.", "first")
    await flow.say("We moved and now I live in Berlin.", "second")
    await flow.say("It is late.", "third")
    assert {row.since for row in items(flow)} == {2}
    await flow.drain()
    assert [(flow.text(row.id), flow.text(row.successor)) for row in flow.changed()] == [
        ("Mia: I live in Oslo.", "Mia: We moved and now I live in Berlin.")
    ]
    flow.check()


async def test_a_correction_of_an_opening_turn_that_nobody_answered_closes_it() -> None:
    flow = Listening()
    await flow.say("The dentist is on Monday.", "first")
    await flow.say("No, I said the dentist is on Tuesday.", "second")
    await flow.say("It is late.", "third")
    assert [flow.text(row.id) for row in flow.closed(CloseCause.CORRECTION)] == ["Mia: The dentist is on Monday."]
    flow.check()


async def test_a_drain_lets_be_read_what_waits_and_lets_it_leave_with_all_else() -> None:
    """So the last exchange of a space that nobody speaks in any more comes to memory."""
    flow = Listening(language=Scripted(both))
    await flow.pair("I own a red boat.", "It is red.")
    await flow.say("I live in Oslo.", "first")
    await flow.say("I own a cello.", "second", speaker=BEN)
    assert len(items(flow)) == 2
    await flow.drain()
    fresh = items(flow)[2:]
    assert [(row.since, row.said_at, row.speaker, row.provenance) for row in fresh] == [
        (4, 2, MIA, ("first",)),
        (4, 3, BEN, ("second",)),
    ]
    assert {row.id for row in flow.rows if row.row == "left"} == {row.id for row in items(flow)}
    supporting = {edge.target: edge.source for edge in flow.edges(EdgeType.SUPPORTS)}
    assert [supporting[row.id] for row in fresh] == [record_id(SPACE, 2, "turn"), record_id(SPACE, 3, "turn")]
    assert {row.id for row in fresh} <= set(flow.memory.vectors)
    read = len(flow.language.asked)
    await flow.drain()
    assert len(flow.language.asked) == read, "nothing is read twice"
    flow.check()


async def test_a_drain_of_one_leaves_what_others_said_in_hand() -> None:
    flow = Listening(language=Scripted(both))
    await flow.say("I live in Oslo.", "first")
    await flow.say("I own a cello.", "second", speaker=BEN)
    await flow.drain(MIA.id)
    assert [row.provenance for row in items(flow)] == [("first",)]
    await flow.say("It is so.", "third", speaker=BOT)
    assert [row.provenance for row in items(flow)] == [("first",), ("second",)]
    flow.check()


async def test_what_a_drain_read_is_judged_and_taken_back_as_all_else_is() -> None:
    flow = Listening()
    await flow.pair("I live in Oslo.", turn_id="first")
    await flow.say("We moved and now I live in Berlin.", "second")
    await flow.drain()
    assert [(flow.text(row.id), flow.text(row.successor)) for row in flow.changed()] == [
        ("Mia: I live in Oslo.", "Mia: We moved and now I live in Berlin.")
    ]
    moved = items(flow)[-1]
    await flow.say("We did not move.", "second", revision=1)
    assert moved.id in {row.id for row in flow.closed(CloseCause.REVISION)}
    flow.check()


async def test_a_correction_that_a_drain_lets_be_read_closes_what_it_puts_right() -> None:
    flow = Listening()
    await flow.pair("The dentist is on Monday.")
    await flow.say("No, I said the dentist is on Tuesday.")
    await flow.drain()
    assert [flow.text(row.id) for row in flow.closed(CloseCause.CORRECTION)] == ["Mia: The dentist is on Monday."]
    flow.check()


@pytest.mark.parametrize("between", [0, 66])
async def test_a_revised_reply_leaves_the_items_of_the_turn_it_answered(between: int) -> None:
    flow = Listening(language=Scripted(both))
    await flow.say("I live in Oslo.", "first")
    await flow.say("Oslo is lovely.", "second", speaker=BOT)
    for number in range(between):
        await flow.say(f"Number {number} passes by.")
    opener, reply = items(flow)[:2]
    await flow.say("Oslo is cold.", "second", speaker=BOT, revision=1)
    gone = {row.id for row in flow.closed(CloseCause.REVISION)}
    assert reply.id in gone
    assert opener.id not in gone
    flow.check()


async def test_a_revision_keeps_what_it_says_too() -> None:
    flow = Listening(language=Scripted(both))
    await flow.pair("I live in Oslo.", turn_id="first")
    (opener, _) = items(flow)
    await flow.say("I live in Oslo. ", "first", revision=1)
    assert opener.id not in {row.id for row in flow.closed(CloseCause.REVISION)}
    assert len([row for row in items(flow) if row.provenance == ("first",)]) == 1
    flow.check()


async def test_a_change_said_in_an_opening_turn_updates_what_an_opening_turn_said() -> None:
    """It comes with the agent's reply and is about the person: the routers must look among the person's own."""
    flow = Listening()
    await flow.pair("I live in Oslo.")
    for number in range(14):
        await flow.pair(f"Number {number} passes by.")
    await flow.pair("We moved and now I live in Berlin.")
    for number in range(22):
        await flow.pair(f"Number {number} passes by again.")
    changed = {flow.text(row.id): flow.text(row.successor) for row in flow.changed()}
    assert changed["Mia: I live in Oslo."] == "Mia: We moved and now I live in Berlin."
    flow.check()


async def test_attributes_of_one_person_are_joined_whoever_closed_the_chunk() -> None:
    flow = Listening()
    await flow.pair("I live in Oslo.")
    await flow.pair("I am a nurse.")
    first, second = items(flow)
    joined = [(edge.source, edge.target) for edge in flow.edges(EdgeType.SPEAKER_RELATED)]
    assert joined == [(second.id, first.id)]


async def test_a_guess_supersedes_nothing() -> None:
    def say(request: Any) -> object:
        if not request.prompt.name.endswith(".extract"):
            return each_turn(request)
        text = json.loads(request.data)["turns"][0]["text"]
        known = json.loads(request.data)["known"]
        if "maybe" not in text:
            return both(request)
        guess = said(1, text, "I no longer live in Oslo.", views=[1], tentative=True)
        return {"items": [guess | {"suggested_by": [one["n"] for one in known[:1]]}]}

    flow = Listening(language=Scripted(say))
    await flow.pair("I live in Oslo.")
    for number in range(33):
        await flow.pair(f"Number {number} passes by.")
    await flow.pair("It is maybe the flat in Oslo.")
    for number in range(21):
        await flow.pair(f"Number {number} passes by again.")
    (guess,) = [row for row in items(flow) if row.rests_on]
    assert guess.suggested_by
    assert guess.id not in {row.successor for row in flow.changed()}
    assert guess.id not in {row.successor for row in flow.closed(CloseCause.CORRECTION)}
    flow.check()


async def test_a_correction_puts_right_what_was_said_and_no_guess() -> None:
    def say(request: Any) -> object:
        text = json.loads(request.data)["turns"][0]["text"]
        return {"items": [said(1, text, text, views=[9], subject="dentist", attribute="appointment")]}

    flow = Listening(language=Scripted(say))
    await flow.pair("The dentist is on Monday.")
    (told,) = items(flow)
    guess = (
        flow.heard[-1]
        .items[0]
        .model_copy(
            update={
                "text": "The dentist may be far.",
                "rests_on": "The dentist",
                "suggested_by": ("x",),
                "quoted": None,
            }
        )
    )
    placed = plain(flow.position, "The dentist is where it is.", BEN, interaction=flow.position)
    await flow.route(Extracted(header=placed.header, localized=placed, items=(guess,)))
    await flow.pair("No, I said the dentist is on Tuesday.")
    assert [row.id for row in flow.closed(CloseCause.CORRECTION)] == [told.id]
    flow.check()


async def test_candidates_and_sets_are_records_that_rest_on_turns() -> None:
    flow = Listening(language=Scripted(each_turn))
    await flow.chat(50)
    found = flow.views()
    assert len(found) == 10
    assert all(row.key is not None and row.key.attribute == "view:candidate" and row.view for row in found)
    assert {row.provenance for row in found} == {("t0", "t2")}
    assert {row.id for row in found} <= set(flow.memory.vectors)
    flow.check()


def lines(request: Any) -> object:
    """Answer with one item on one key for each line of a turn."""
    if not request.prompt.name.endswith(".extract"):
        return each_turn(request)
    told = [(one, line) for one in json.loads(request.data)["turns"] for line in one["text"].split("\n")]
    return {
        "items": [
            said(one["n"], line, line, owner=one["speaker"], views=[9], subject="dentist", attribute="appointment")
            for one, line in told
        ]
    }


async def test_a_correction_leaves_what_was_said_after_it() -> None:
    flow = Listening(language=Scripted(lines))
    await flow.say("The dentist is on Monday.")
    await flow.say("Noted.", speaker=BOT)
    await flow.say("No, I said the dentist is on Tuesday.", "correction")
    fresh = flow.heard[1].items[0].model_copy(update={"text": "The dentist moves to Friday.", "quoted": None})
    placed = plain(flow.position, "The dentist moves to Friday.", MIA, interaction=flow.position)
    await flow.route(Extracted(header=placed.header, localized=placed, items=(fresh,)))
    await flow.say("Tuesday it is.", speaker=BOT, reply_to="correction")
    closed = [flow.text(row.id) for row in flow.closed(CloseCause.CORRECTION)]
    assert "The dentist moves to Friday." not in closed
    flow.check()


async def test_a_model_sees_what_an_opening_turn_said_beside_ones_own() -> None:
    shown = list[Any]()

    def rule(request: Any) -> object:
        shown.append(json.loads(request.data))
        return {"event": [], "fact": [], "attribute": []}

    flow = Listening(router=Scripted(rule))
    await flow.pair("The ferry to Kirkwall leaves at nine.", days=0)
    await flow.pair("The Kirkwall boat departs at ten from now on.", days=3)
    await flow.drain()
    assert [one["who"] for part in shown[0].values() for ones in part.values() for one in ones] == [MIA.id, MIA.id]
    flow.check()


async def test_an_item_of_an_opening_turn_has_the_time_of_that_turn() -> None:
    flow = Listening()
    await flow.say("I live in Oslo.", days=2)
    await flow.say("Noted.", speaker=BOT, days=5)
    reader = Reader(flow.memory, SPACE, flow.position, flow.routing)
    (item,) = reader.recent(reader.rows)
    assert item.at == int((START + timedelta(days=2)).timestamp())


async def test_the_turn_that_says_the_same_supports_once() -> None:
    """It is the turn that says it, not the one that it came with, whose support counts."""
    flow = Listening()
    await flow.pair("I live in Oslo.")
    await flow.pair("I live in Oslo still.")
    reader = Reader(flow.memory, SPACE, flow.position, flow.routing)
    old, new = reader.recent(reader.rows)
    changes = Changes(SPACE, flow.position)
    changes.support(replace(new, position=new.said, back=0), old)
    changes.support(replace(new, id="said in another way"), old)
    changes.support(replace(new, back=0), old)
    assert [edge.source for edge in changes.edges] == [record_id(SPACE, n, "turn") for n in (new.said, new.position)]


async def test_a_turn_that_rules_had_to_read_says_so_but_not_what_it_lists() -> None:
    flow = Listening(language=Scripted(lambda _request: None))
    await flow.say("Well?")
    await flow.say("Cafes to try:\n1. Fig Tree\n2. Noodle Hut\n3. Olive Bar", speaker=BOT)
    assert flow.heard[-1].degraded
    degraded = {row.kind: row.degraded for row in flow.records(RecordKind.TURN, RecordKind.STRUCTURED) if row.since}
    assert degraded == {RecordKind.TURN: True, RecordKind.STRUCTURED: False}
