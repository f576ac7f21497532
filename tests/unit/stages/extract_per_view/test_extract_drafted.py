"""Drafts are kept from preparing to deciding, for the same message heard the same way only."""

from __future__ import annotations

from schemas.normalized import Normalized
from stages.extract_per_view import drafted
from stages.extract_per_view.drafted import Drafted
from stages.extract_per_view.drafts import drafts, hearing
from stages.extract_per_view.state import Party
from tests.fakes.ear import Ear

ANA, BEN, CLEO = (Party(id=name.lower(), label=name) for name in ("Ana", "Ben", "Cleo"))


async def _turn(text: str) -> Normalized:
    ear = Ear()
    await ear.say(text)
    return ear.heard[-1].localized.normalized


async def test_drafts_of_a_message_are_made_once() -> None:
    turn, kept = await _turn("I told you that I live in Oslo."), Drafted()
    found = kept.of(turn, (BEN, ANA))
    assert found == drafts(turn, hearing(turn, (BEN, ANA)))
    assert kept.of(turn, (ANA, BEN)) is found


async def test_an_equal_message_is_another() -> None:
    turn, kept = await _turn("I live in Oslo."), Drafted()
    found = kept.of(turn, (ANA,))
    again = kept.of(turn.model_copy(), (ANA,))
    assert again == found
    assert again is not found


async def test_other_parties_give_other_drafts() -> None:
    turn, kept = await _turn("I told you that I live in Oslo."), Drafted()
    kept.of(turn, (ANA, BEN))
    for parties in ((ANA, CLEO), (ANA, BEN, CLEO), ()):
        assert kept.of(turn, parties) == drafts(turn, hearing(turn, parties))


async def test_few_and_short_turns_are_kept() -> None:
    turn, kept = await _turn("I live in Oslo."), Drafted()
    first = kept.of(turn, (ANA,))
    for _ in range(drafted.MOST):
        kept.of(turn.model_copy(), (ANA,))
    assert kept.of(turn, (ANA,)) is not first
    long = await _turn("I live in Oslo. " * (drafted.LONGEST // 16 + 1))
    assert kept.of(long, (ANA,)) is not kept.of(long, (ANA,))
