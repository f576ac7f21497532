"""Which statement a correction puts right: the same key first, then shared words, then another value of its sort."""

from __future__ import annotations

import pytest

from schemas.extracted import ItemKind, Key
from schemas.turn import Speaker
from stages.extract_per_view.corrections import REACH, Stated, target_of
from stages.extract_per_view.state import Statement, Told
from tests.fakes.ear import Ear
from tests.fakes.flow import BOT

HERE, NOW = 7, 100
HOME = Key(owner="u-1", subject=None, attribute="location:home")


def said(text: str, *, back: int = 1, branch: int = HERE, attribute: str = "plans:meet", values: str = "") -> Stated:
    statement = Statement(kind=ItemKind.FACT, attribute=attribute, text=text, values=tuple(values.split("; ")))
    told = Told(position=NOW - back, turn="t-earlier", branch=branch, speaker="u-1", statements=(statement,))
    return Stated(told, statement, Key(owner="u-1", subject=None, attribute=attribute))


def target(source: str, *known: Stated, key: Key = HOME, values: str = "") -> str | None:
    """Return the text of the statement that a correction is about; ``known`` are the latest first."""
    new = tuple(values.split("; ")) if values else ()
    found = target_of(source, key, HERE, NOW, values=new, said=known)
    return None if found is None else found.text


def test_the_same_key_comes_first_however_far_and_in_whatever_branch() -> None:
    home = said("Mia lives in Oslo.", back=90, branch=1, attribute="location:home")
    assert target("No, I meant I live in Bergen.", said("Mia meets a Bergen friend."), home) == "Mia lives in Oslo."


@pytest.mark.parametrize(("back", "branch"), [(REACH + 1, HERE), (1, HERE + 1)])
def test_shared_words_count_within_reach_and_branch_only(back: int, branch: int) -> None:
    text = "Dentist appointment at nine."
    assert target("No, I said dentist appointment.", said(text)) == text
    assert target("No, I said dentist appointment.", said(text, back=back, branch=branch)) is None


def test_a_new_value_alone_corrects_the_last_statement_with_another_of_its_sort() -> None:
    day, other = said("Booked for Thursday.", values="day 2026-03-05"), said("Two tickets.", values="number 2")
    assert target("No, I said Tuesday.", other, day, values="day 2026-03-03") == "Booked for Thursday."
    assert target("No, I said 3.", day, other, values="number 3") == "Two tickets."
    assert target("No, I said 2.", day, other, values="number 2") is None


def test_a_correction_with_much_to_say_of_another_matter_is_about_nothing_known() -> None:
    day = said("Booked for Thursday.", values="day 2026-03-05")
    source = "No, I said my piano concert and the orchestra trip start on Tuesday."
    assert target(source, day, values="day 2026-03-03") is None


async def test_a_correction_on_the_very_key_needs_no_reminder_of_what_it_is_about() -> None:
    ear = Ear()
    home = (await ear.items("I live in Oslo."))[0]
    item = (await ear.items("No, I meant I live in Bergen."))[0]
    assert (item.corrects, item.key, "about:" in item.text) == (True, home.key, False)


async def test_an_agent_corrects_its_own_statements_only() -> None:
    ear = Ear()
    await ear.say("Please book the dentist appointment for Monday.")
    item = (await ear.items("No, I said Tuesday.", speaker=BOT))[0]
    assert "dentist" not in item.text


@pytest.mark.parametrize(("before", "about"), [(0, True), (3, False)])
async def test_of_people_with_long_ids_the_known_parties_can_be_corrected(*, before: int, about: bool) -> None:
    ear = Ear()
    for n in range(before):
        await ear.say("Good evening to all of you.", speaker=Speaker(id=f"u-{n}"))
    await ear.say("Booked the appointment for Thursday at nine.", speaker=Speaker(id="z" * 200, name="Zoe"))
    item = (await ear.items("No, I said Tuesday.", speaker=Speaker(id="u-1")))[0]
    assert (item.key.owner == "z" * 200, "Thursday" in item.text) == (about, about)
