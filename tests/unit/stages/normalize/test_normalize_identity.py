from __future__ import annotations

import pytest

from schemas.control import Control, Drain, Passed
from schemas.normalized import Normalized
from stages.contract import WINDOW, Duplicate, Emit, Reject, Unavailable
from stages.normalize import Normalize
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.history import MemoryHistory
from tests.fakes.talk import SPACE, START, Talk, turn_of

GAPS = [0, 3, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW]
"""Turns between the first and what comes back: in the state, at its edge, and in memory only."""

LONG = "We talked about the garden, the gate and the spring. " * 60


async def spoken(gap: int, text: str = "I live in Berlin.", revision: int = 0) -> Talk:
    talk = Talk()
    await talk.hear(text, "c1:1", revision=revision)
    await talk.chat(gap)
    return talk


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("text", ["I live in Berlin.", LONG])
async def test_the_same_again_is_a_duplicate_however_old(gap: int, text: str) -> None:
    talk = await spoken(gap, text)
    before = talk.position
    assert isinstance(await talk.say(text, "c1:1"), Duplicate)
    assert talk.position == before


@pytest.mark.parametrize("gap", GAPS)
async def test_what_cleaning_makes_equal_is_the_same(gap: int) -> None:
    talk = await spoken(gap, "caf\u00e9 at\nnoon")
    assert isinstance(await talk.say("cafe\u0301\x00  at noon", "c1:1"), Duplicate)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("former", ["I live in Berlin.", LONG])
async def test_another_text_asks_for_a_revision(gap: int, former: str) -> None:
    talk = await spoken(gap, former)
    outcome = await talk.say("I live in Bern.", "c1:1")
    assert isinstance(outcome, Reject)
    assert outcome.input_fault
    assert all(part in outcome.reason for part in ("'c1:1'", "acme/u-42", "`revision` above 0"))


@pytest.mark.parametrize("gap", GAPS)
async def test_a_caption_is_part_of_the_text(gap: int) -> None:
    talk = await spoken(gap)
    assert isinstance(await talk.say("I live in Berlin.", "c1:1", captions=["a gate"]), Reject)


@pytest.mark.parametrize("gap", GAPS)
async def test_a_higher_revision_is_an_event_that_names_the_newest_former(gap: int) -> None:
    talk = await spoken(gap)
    second = talk.position
    assert (await talk.hear("I live in Bern.", "c1:1", revision=2)).revises == 0
    await talk.chat(gap)
    assert (await talk.hear("I live in Basel.", "c1:1", revision=5)).revises == second


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("text", ["I live in Berlin.", "something else"])
async def test_a_lower_revision_is_a_duplicate(gap: int, text: str) -> None:
    talk = await spoken(gap, revision=3)
    assert isinstance(await talk.say(text, "c1:1", revision=2), Duplicate)


async def test_the_newest_revision_in_memory_counts_with_more_records_than_a_read_gives_at_first() -> None:
    talk = Talk()
    for revision in range(4):
        await talk.hear(f"Number {revision}. {LONG * 5}", "c1:1", revision=revision)
    await talk.chat(2 * WINDOW)
    history = talk.stage.history
    assert isinstance(history, MemoryHistory)
    before = history.reads["matching"]
    assert isinstance(await talk.say(f"Number 3. {LONG * 5}", "c1:1", revision=3), Duplicate)
    assert history.reads["matching"] == before + 2
    assert isinstance(await talk.say(f"Number 2. {LONG * 5}", "c1:1", revision=3), Reject)
    assert (await talk.hear("new", "c1:1", revision=4)).revises == 3


async def test_closed_records_are_known_too() -> None:
    talk = await spoken(0)
    await talk.hear("I live in Bern.", "c1:1", revision=1)
    assert isinstance(talk.stage.history, MemoryHistory)
    talk.stage.history.closed.update({record.id: 1 for record in talk.stage.history.records[SPACE][:1]})
    await talk.chat(2 * WINDOW)
    assert isinstance(await talk.say("I live in Berlin.", "c1:1", revision=0), Duplicate)
    assert isinstance(await talk.say("I live in Bern.", "c1:1", revision=1), Duplicate)


async def test_another_id_with_the_same_text_is_new() -> None:
    talk = await spoken(WINDOW + 2)
    assert (await talk.hear("I live in Berlin.", "c1:2")).revises is None


async def test_memory_is_read_as_of_w_before_only_and_never_for_what_the_state_knows() -> None:
    talk = await spoken(WINDOW - 1)
    assert isinstance(talk.stage.history, MemoryHistory)
    assert talk.stage.history.positions == []
    await talk.chat(2)
    assert talk.stage.history.positions == [0, 1]
    await talk.say("Number 65 passes by.", "t65")
    assert talk.stage.history.positions == [0, 1]


async def test_times_out_of_order_keep_the_order_of_arrival() -> None:
    talk = Talk()
    first = await talk.hear(turn_of("Later.", "a", at=START))
    second = await talk.hear(turn_of("Earlier.", "b", at=START.replace(year=2020)))
    assert (first.header.position, second.header.position) == (0, 1)
    assert second.turn.at.year == 2020


async def test_a_refusal_leaves_no_trace() -> None:
    talk = Talk()
    before = talk.state
    assert isinstance(await talk.say("", "c1:1"), Reject)
    assert talk.state == before
    assert (await talk.hear("Now with a text.", "c1:1")).revises is None


async def test_a_control_event_passes() -> None:
    talk = await spoken(0)
    before = talk.state
    control = Control(space=SPACE, event_id="drain-1", at=START, body=Drain())
    outcome = await talk.say(control)
    assert isinstance(outcome, Emit)
    assert outcome.message == Passed(
        header=talk.numbered(control).header.model_copy(update={"position": 1, "offset": 1}), control=control
    )
    assert outcome.state == before


async def test_a_model_that_does_not_answer_is_unavailable() -> None:
    talk = Talk(Normalize(DigestEmbedder(down=True), MemoryHistory()))
    with pytest.raises(Unavailable):
        await talk.say("Hello you.")
    with pytest.raises(Unavailable):
        await talk.stage.prepare([talk.numbered(turn_of("Hello you."))])


async def test_the_event_is_read_from_the_wire() -> None:
    talk = Talk()
    numbered = talk.numbered(turn_of("I live in Berlin."))
    again = type(numbered).model_validate_json(numbered.model_dump_json())
    outcome = await talk.stage.decide(again, talk.state)
    assert isinstance(outcome, Emit)
    assert isinstance(outcome.message, Normalized)
    assert Normalized.model_validate_json(outcome.message.model_dump_json()) == outcome.message
