"""Features of single candidates: what the words before and now say of each other."""

from __future__ import annotations

import pytest

from stages.localize_state import channel, chat
from stages.localize_state.channel_weights import CHANNEL
from stages.localize_state.chat_weights import CHAT
from stages.localize_state.incoming import Incoming, incoming
from stages.localize_state.standings import talk_of
from stages.localize_state.threads import recent
from tests.fakes.forest import Grove, normalized


async def next_turn(grove: Grove, who: str, text: str) -> Incoming:
    """Return the turn as scoring would see it if it came now."""
    return incoming(await normalized(grove.turn(who, text, {}), grove.position), grove.state)


@pytest.mark.parametrize(("before", "shown"), [("!ntfs", True), ("how does one mount ntfs?", False)])
async def test_a_command_for_a_bot_shows_in_what_comes_next(before: str, *, shown: bool) -> None:
    grove = Grove()
    for who, text in (("ann", "good evening"), ("carl", "hello ann"), ("dora", before)):
        await grove.say(who, text)
    turn = await next_turn(grove, "carl", "ntfs-3g mounts ntfs disks")
    talk = talk_of(turn, grove.state.window.entries)
    newest = channel.features(turn, talk.standings[0], talk, 0)
    marks = [feature for feature in newest if "command" in feature]
    assert bool(marks) == shown
    assert set(marks) <= CHANNEL.keys()


@pytest.mark.parametrize(
    ("before", "now", "features"),
    [
        ("That's all, goodbye!", "The oven is broken.", {"aclosed0"}),
        ("That's all, goodbye!", "Goodbye!", {"aclosed1", "aparting0"}),
        ("Shall I book it?", "No, see you tomorrow, bye!", {"aparting1"}),
        ("The oven is broken.", "It smells of lemon.", set()),
    ],
)
async def test_farewells_show_who_said_them(before: str, now: str, features: set[str]) -> None:
    grove = Grove()
    await grove.say("bot", before)
    turn = await next_turn(grove, "mia", now)
    threads = recent(turn, grove.state, {})
    found = set(chat.features(turn, 0, chat.field_of(turn, threads)))
    assert {one for one in found if "closed" in one or "parting" in one} == features
    assert features <= CHAT.keys()
