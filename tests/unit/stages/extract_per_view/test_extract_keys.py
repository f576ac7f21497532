"""Keys: wordings of one thing share one, different things do not."""

from __future__ import annotations

import pytest

from tests.fakes.ear import Ear
from tests.fakes.flow import MIA


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Oslo.", "I moved to Berlin."),
        ("I love steak.", "I'm vegetarian now."),
        ("I'm vegetarian now", "I eat meat again."),
        ("I love jazz.", "I can't stand jazz."),
        ("I work as a nurse.", "I now work as a teacher."),
        ("My favourite colour is blue.", "My favourite colour is green now."),
        ("My sister lives in Rome.", "My sister moved to Bergen."),
        ("I'm single.", "I got married."),
    ],
)
async def test_wordings_of_one_thing_share_a_key(first: str, second: str) -> None:
    ear = Ear()
    keys = [(await ear.items(text))[0].key for text in (first, second)]
    assert keys[0] == keys[1]
    assert keys[0].owner == MIA.id


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Oslo.", "My sister lives in Oslo."),
        ("I love jazz.", "I love sushi."),
        ("I live in Oslo.", "I work in Oslo as a baker."),
    ],
)
async def test_different_things_have_different_keys(first: str, second: str) -> None:
    ear = Ear()
    keys = [(await ear.items(text))[0].key for text in (first, second)]
    assert keys[0] != keys[1]


async def test_two_bookings_in_two_branches_are_two_keys() -> None:
    ear = Ear()
    one = (await ear.items("Please book a table for four at seven.", root=True))[0]
    two = (await ear.items("Please book a table for two at nine.", root=True))[0]
    assert one.key.attribute == two.key.attribute
    assert one.key.subject != two.key.subject
