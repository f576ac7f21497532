"""Whose words an item has: a model's are cleaned, a turn's are its own, and what is remembered is not said anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.extracted import ItemKind
from schemas.turn import Speaker
from schemas.view import View
from stages.extract_per_view.sets import bounded
from stages.extract_per_view.shown import LONGEST, part
from tests.fakes.flow import BEN, BOT, MIA
from tests.fakes.language_model import Scripted
from tests.fakes.reader import NUMBER, Listening, Stream, answering, each_turn, heard, said

LIVES = "I live in Oslo with my sister."
RIGHT = said(1, "with my sister", "Mia lives with her sister.")


@pytest.mark.parametrize("text", [" ", "\x00", "\u2028\t", "?!", "\U0001f600", "He is it."])
async def test_an_item_that_says_nothing_is_refused(text: str) -> None:
    message = await heard(answering(said(1, "I live in Oslo", text), RIGHT), (MIA, LIVES), (BOT, "Noted."))
    assert [item.text for item in message.items] == [RIGHT["text"]]
    assert message.refused == 1


async def test_a_models_words_are_cleaned() -> None:
    slots = [{"name": "pl\x07ace", "value": "\x00"}, {"name": "place\x00", "value": "Os\u202elo\n"}]
    odd = said(1, "I live in Oslo", "Mia\x00 lives\n in\u202e Oslo.", views=[NUMBER["places"]], slots=slots)
    odd |= {"subject": "\x00The\x1b Fjord\u2028", "tentative": False}
    message = await heard(answering(odd | {"quote": "with my sister"}), (MIA, LIVES), (BOT, "Noted."))
    (item,) = message.items
    assert (item.text, item.key.subject) == ("Mia lives in Oslo.", "the fjord")
    assert [(slot.name, slot.value) for slot in item.slots] == [("place", "Oslo")]


def test_the_words_of_a_view_are_cleaned() -> None:
    odd = View(id="v", name="a\x00 b", kind=ItemKind.FACT, slots=("\x07", "wh\u202eat"), template="Look\x1b for\n it.")
    view = bounded(odd)
    assert (view.name, view.slots, view.template) == ("a b", ("what",), "Look for it.")


async def test_a_view_whose_name_says_nothing_is_not_proposed() -> None:
    def say(request: Any) -> object:
        blank = {"name": "\x00", "kind": "fact", "slots": [], "look_for": "It.", "chunks": []}
        return {"views": [blank]} if request.prompt.name.endswith(".discover") else each_turn(request)

    stream = await Stream.of(say).chat(50)
    assert any(one.degraded for one in stream.heard)
    assert not any(one.views for one in stream.heard)


@pytest.mark.parametrize("subject", ["branch:3", " Branch:0 "])
async def test_a_model_names_no_branch(subject: str) -> None:
    named = said(1, "I live in Oslo", "Oslo is a home.", views=[NUMBER["other"]], subject=subject)
    flow = Listening(language=Scripted(answering(named)))
    await flow.pair("Hello there, everybody.")
    (item,) = await flow.pair(LIVES)
    assert item.key.subject == "branch:0"
    own = await heard(answering(named | {"views": [NUMBER["identity"]]}), (MIA, LIVES), (BOT, "Noted."))
    assert own.items[0].key.subject is None


async def test_a_correction_is_of_nothing_said_after_it() -> None:
    """The chunk that it opens is read later, when somebody else has said something too."""
    stream = Stream.of()
    await stream.tell("We have 6 chairs for the dinner.")
    await stream.tell("Noted.", BOT)
    await stream.tell("No, I said 7.")
    await stream.tell("My band has 9 songs for the concert.", BEN, interaction=0)
    late = await stream.tell("Then it is so.", BOT, interaction=2)
    item, other = late.items
    assert other.provenance == ("t3",)
    assert item.corrects
    assert item.key.owner == MIA.id
    assert item.provenance == ("t2", "t0")
    assert "chairs" in item.text


async def test_what_is_remembered_is_said_by_nobody_anew() -> None:
    """An item of remembered words alone is refused; what records suggest is a guess, whatever the model calls it."""
    flow = Listening()
    await flow.pair("After work I play football.")
    flow.language.say = answering()
    for number in range(40):
        await flow.pair(f"Number {number} passes by.")
    football = said(1, "the lights are on", "They play football after work.")
    flow.language.say = answering(football)
    items = await flow.pair("That grass is near, and the lights are on.")
    assert not any("football" in item.text for item in items)
    assert flow.heard[-1].degraded

    def suggested(request: Any) -> object:
        known = [one["n"] for one in json.loads(request.data)["known"] if "football" in one["text"]]
        return {"items": [football | {"suggested_by": known}]}

    flow.language.say = suggested
    (item,) = await flow.pair("And here the lights are on.")
    assert item.tentative
    assert item.suggested_by


async def test_a_quoted_line_of_whoever_takes_part_is_nobodys_statement() -> None:
    flow = Listening(language=Scripted(lambda _: {"items": []}))
    await flow.pair("Hello.", speaker=BEN)
    flow.language.say = answering(said(1, "I live in Rome", "Ben lives in Rome."))
    assert await flow.pair("Look at this:\n- Ben: I live in Rome.") == ()


@pytest.mark.parametrize("quote", ["I like this: > I live in Rome.", "I live in Rome."])
async def test_no_part_of_a_quote_is_somebody_elses(quote: str) -> None:
    text = "I like this:\n> I live in Rome."
    message = await heard(answering(said(1, quote, "Mia lives in Rome.")), (MIA, text), (BOT, "Noted."))
    assert not any("Rome" in item.text and not item.degraded for item in message.items)


async def test_what_one_quotes_and_then_says_oneself_is_said() -> None:
    text = "> I live in Rome.\nSo do I: I live in Rome."
    message = await heard(
        answering(said(1, "I live in Rome", "Mia lives in Rome.")),
        (Speaker(id="u-1", name="Mia"), text),
        (BOT, "Noted."),
    )
    (item,) = message.items
    assert not item.degraded
    assert item.span.start > text.index("\n")


async def test_an_item_rests_on_every_turn_whose_words_it_has() -> None:
    both = said(1, "Shall we meet", "Mia and Rook meet at the lighthouse.")
    message = await heard(answering(both), (MIA, "Shall we meet on Friday?"), (BOT, "Yes, at the lighthouse."))
    assert message.items[0].provenance == ("t0", "t1")


async def test_room_is_shared_among_the_views_and_what_has_none_is_counted() -> None:
    def say(request: Any) -> object:
        view = json.loads(request.frame)["views"][0]["name"]
        return {"items": [said(1, "I live in Oslo", f"Mia: Oslo, {view} {n}.") for n in range(3)]}

    message = await heard(say, (MIA, LIVES), (BOT, "Noted."), apart=True)
    assert len({item.views for item in message.items}) == len(NUMBER)
    assert message.refused == 3 * len(NUMBER) - len(message.items)


def test_a_request_shows_whole_sentences() -> None:
    """What crosses the limit is read by rules, whole."""
    text = "We all waited for the rain to pass by. " * 300
    shown = part(text)
    assert shown.endswith("by.")
    assert LONGEST - 60 < len(shown) <= LONGEST
    assert part(text[:LONGEST]) == text[:LONGEST]
