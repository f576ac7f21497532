"""Corrections, changes, negation and attitude of an item."""

from __future__ import annotations

import pytest

from schemas.normalized import Attitude
from tests.fakes.ear import Ear
from tests.fakes.flow import BOT


@pytest.mark.parametrize(
    ("text", "attitude"),
    [
        ("I love jazz.", Attitude.POSITIVE),
        ("I hate jazz.", Attitude.NEGATIVE),
        ("I don't like jazz.", Attitude.NEGATIVE),
    ],
)
async def test_attitude_of_a_preference_is_its_own(text: str, attitude: Attitude) -> None:
    assert (await Ear().items(text))[0].attitude is attitude


@pytest.mark.parametrize(
    ("text", "corrects", "changes", "negated"),
    [
        ("No, I said my flight is on Tuesday.", True, False, False),
        ("Sorry, I meant my sister lives in Bergen.", True, False, False),
        ("Actually it's the blue car, not the red one.", True, False, False),
        ("Correction: my flight leaves at nine.", True, False, False),
        ("I no longer live in Oslo.", False, True, True),
        ("I changed my mind about the red car.", False, True, False),
        ("I don't own a car.", False, False, True),
        ("I can't wait for my trip to Rome.", False, False, False),
        ("I live in a house by the sea.", False, False, False),
    ],
)
async def test_cues(text: str, corrects: bool, changes: bool, negated: bool) -> None:  # noqa: FBT001 - a table
    item = (await Ear().items(text))[0]
    assert (item.corrects, item.changes, item.negated) == (corrects, changes, negated)


async def test_an_elliptic_correction_takes_the_key_of_what_it_puts_right() -> None:
    ear = Ear()
    await ear.say("Please book the dentist appointment for Monday.")
    booked = (await ear.items("Booked the appointment for Thursday at nine.", speaker=BOT))[0]
    item = (await ear.items("No, I said Tuesday."))[0]
    assert item.corrects
    assert item.key == booked.key
    assert booked.text in item.text
