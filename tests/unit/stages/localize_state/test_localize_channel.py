"""Channels of many: addressed names, changed names, and the scored choice between several talks."""

from __future__ import annotations

import pytest

from schemas.localized import Rule
from tests.fakes.forest import Grove

TALK = [
    ("ann79", "hello, my sound card is silent since the upgrade, any idea why?"),
    ("bert_", "how do I mount an ntfs disk?"),
    ("carl", "good evening everyone"),
    ("dora", "has anybody installed the new kernel yet?"),
]


async def channel() -> Grove:
    grove = Grove()
    for who, text in TALK:
        await grove.say(who, text)
    return grove


@pytest.mark.parametrize(
    ("text", "parent"),
    [
        ("ann79: is the volume muted?", "t0"),
        ("Ann79, is the volume muted?", "t0"),
        ("@ann79 is the volume muted?", "t0"),
        ("ann79 is the volume muted", "t0"),
        ("ann: is the volume muted?", "t0"),
        ("bert: with ntfs-3g", "t1"),
        ("bert_: with ntfs-3g", "t1"),
        ("dora: yes, it runs well here", "t3"),
    ],
)
async def test_an_addressed_name_leads_to_that_person(text: str, parent: str) -> None:
    grove = await channel()
    placement = await grove.say("carl", text)
    assert (placement.parent_turn_id, placement.rule, placement.score) == (parent, Rule.EXPLICIT, None)
    assert len(placement.runners_up) == 3
    assert parent not in {runner.turn_id for runner in placement.runners_up}


@pytest.mark.parametrize("text", ["eve: is the volume muted?", "so: where was the volume button again"])
async def test_a_name_nobody_bears_is_no_address(text: str) -> None:
    grove = await channel()
    assert (await grove.say("carl", text)).rule is not Rule.EXPLICIT


async def test_two_addressed_people_are_two_antecedents() -> None:
    grove = await channel()
    placement = await grove.say("carl", "dora, bert: the kernel brings its own ntfs driver")
    assert {placement.parent_turn_id, *placement.other_parents} == {"t3", "t1"}


async def test_who_changes_their_name_stays_the_same_person() -> None:
    grove = await channel()
    await grove.say("*", "=== ann79 is now known as zoe")
    placement = await grove.say("carl", "zoe: is the volume muted?")
    assert (placement.parent_turn_id, placement.rule) == ("t0", Rule.EXPLICIT)
    own = await grove.say("zoe", "carl: no, it is not")
    assert own.parent_turn_id == "t5"


async def test_somebody_addressed_who_was_silent_for_longer_than_the_window_is_still_found() -> None:
    grove = await channel()
    for number in range(80):
        await grove.say("frank" if number % 2 else "gina", f"football match {number}")
    placement = await grove.say("hugo", "ann79: which sound card is it?")
    assert (placement.parent_turn_id, placement.rule) == ("t0", Rule.EXPLICIT)


async def test_the_asker_goes_on_with_the_answer_they_got() -> None:
    grove = await channel()
    await grove.say("carl", "ann79: is the volume of the sound card muted in alsamixer?")
    await grove.say("dora", "the kernel compiles for an hour here")
    placement = await grove.say("ann79", "no, the volume is fine")
    assert (placement.parent_turn_id, placement.rule) == ("t4", Rule.RANKED)
    assert placement.score is not None
    assert placement.score > 0


async def test_a_newcomer_with_a_question_opens_a_branch() -> None:
    grove = await channel()
    placement = await grove.say("ivan", "hi, how can I change the wallpaper in gnome?", after=3)
    assert (placement.rule, placement.parent_turn_id) == (Rule.NEW_ROOT, None)
    assert placement.branch == placement.interaction == 4
    assert len(placement.runners_up) == 3
    assert placement.score is not None
    assert max(runner.score for runner in placement.runners_up) == placement.score <= 0


async def test_joins_and_parts_are_roots_and_never_answered() -> None:
    grove = await channel()
    assert (await grove.say("*", "ivan has joined #ubuntu")).rule is Rule.NEW_ROOT
    placement = await grove.say("ann79", "and it does not show up in lspci either")
    assert placement.parent_turn_id != "t4"


async def test_an_agent_in_a_channel_answers_whom_it_names() -> None:
    grove = await channel()
    assert (await grove.say("bot", "bert_: sudo mount -t ntfs /dev/sda1 /mnt")).parent_turn_id == "t1"


async def test_older_turns_are_read_only_where_no_recent_one_fits() -> None:
    grove = await channel()
    for number in range(70):
        await grove.say(TALK[number % 4][0], f"{TALK[(number + 1) % 4][0]}: football match {number}")
    grove.history.reads.clear()
    await grove.say("carl", "dora: who won the football match?")
    assert not grove.history.reads
    await grove.say("kim", "hello, does anybody know a good pizza recipe?", after=20)
    assert grove.history.reads == {"nearest": 1, "lexical": 1}
