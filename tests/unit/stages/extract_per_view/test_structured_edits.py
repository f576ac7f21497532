"""Edits in words, and which member an ordinal names."""

from __future__ import annotations

import pytest

from stages.extract_per_view.structured_edits import applied, edit, edits
from stages.text.ordinals import Ordinal, nth, ordinal

MEMBERS = ["oats", "rice", "beans", "peas"]

EDITED = {
    "Replace the second one with barley.": ["oats", "barley", "beans", "peas"],
    "please replace the 2nd item with barley": ["oats", "barley", "beans", "peas"],
    "Can you change number 3 to lentils?": ["oats", "rice", "lentils", "peas"],
    "Swap out the last one for corn, please!": ["oats", "rice", "beans", "corn"],
    "Ok, drop the last.": ["oats", "rice", "beans"],
    "Let's remove the first one from the list": ["rice", "beans", "peas"],
    "delete step 2": ["oats", "beans", "peas"],
    "Get rid of the second to last one.": ["oats", "rice", "peas"],
    "swap 1 and 3": ["beans", "rice", "oats", "peas"],
    "Actually, swap the first and the last one please": ["peas", "rice", "beans", "oats"],
    "Add millet after the first one": ["oats", "millet", "rice", "beans", "peas"],
    "insert “rye flour” before number 1": ["rye flour", "oats", "rice", "beans", "peas"],
    "drop number ٤": ["oats", "rice", "beans"],
}

NO_EDITS = (
    "Don't drop the last one.",
    "Should I drop the last one?",
    "I replaced the second one with barley.",
    "Replace oats with barley.",
    "Drop the last one and tell me what is left.",
    "We dropped the last one yesterday.",
    "Drop by at the last minute.",
    "Add sugar.",
    "Replace the second one.",
    "",
)

NOT_THERE = (
    "Drop the ninth one.",
    "replace number 7 with rye",
    "swap 1 and 9",
    "swap 2 and 2",
    "replace the first with oats",
)


@pytest.mark.parametrize("text", EDITED)
def test_an_edit_changes_the_member_that_its_ordinal_names(text: str) -> None:
    found = edit(text)
    assert found is not None
    assert list(applied(found, MEMBERS) or ()) == EDITED[text]


@pytest.mark.parametrize("text", NO_EDITS)
def test_what_asks_for_something_else_is_no_edit(text: str) -> None:
    assert list(edits(text)) == []


@pytest.mark.parametrize("text", NOT_THERE)
def test_an_edit_of_a_member_that_is_not_there_changes_nothing(text: str) -> None:
    found = edit(text)
    assert found is not None
    assert applied(found, MEMBERS) is None


def test_the_last_member_is_not_dropped() -> None:
    found = edit("drop the first one")
    assert found is not None
    assert applied(found, ["oats"]) is None


def test_what_members_are_called_is_kept_where_it_is_their_own_word() -> None:
    nouns = [
        found.nouns
        for text in ("drop the last café", "drop the last one", "drop the last item")
        if (found := edit(text))
    ]
    assert nouns == [{"café"}, set(), set()]


@pytest.mark.parametrize(
    ("words", "number", "by_number"),
    [
        ("third", 3, False),
        ("2nd", 2, False),
        ("last", -1, False),
        ("very last", -1, False),
        ("second to last", -2, False),
        ("penultimate", -2, False),
        ("third from the last", -3, False),
        ("number 4", 4, True),
        ("#4", 4, True),
        ("step four", 4, True),
        ("number ٤", 4, True),
        ("option \uff14", 4, True),
    ],
)
def test_ordinals(words: str, number: int, *, by_number: bool) -> None:
    assert ordinal(words) == Ordinal(number, by_number)


def test_a_number_is_the_one_written_where_the_list_writes_numbers() -> None:
    written = (1, 2, 4)
    assert Ordinal(4, by_number=True).index(3, written) == 2
    assert Ordinal(3, by_number=True).index(3, written) is None
    assert Ordinal(3).index(3, written) == 2
    assert Ordinal(0).index(3) is None


@pytest.mark.parametrize(("text", "number"), [("第三个", 3), ("第十二步", 12), ("第 4 项", 4), ("第二十一", 21)])
def test_ordinals_in_chinese(text: str, number: int) -> None:
    assert nth(text) == Ordinal(number)
    assert nth("次第に") is None
