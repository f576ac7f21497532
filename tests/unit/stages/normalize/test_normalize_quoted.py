"""Where a quotation stands in a text, and where it does not."""

from __future__ import annotations

import pytest

from stages.normalize.quoted import located

SAID = "I said \u201cnever again\u201d, and   it\u2019s 170 euros.\nParty at Ana's, artists only."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("170 euros", "170 euros"),
        ('I said "never again"', "I said \u201cnever again\u201d"),
        ("and it's 170 euros.", "and   it\u2019s 170 euros."),
        ("euros. Party", "euros.\nParty"),
        ('"Party at Ana\u2019s"', "Party at Ana's"),
        ("...Party at Ana's\u2026", "Party at Ana's"),
        (" artists ", "artists"),
    ],
)
def test_white_space_and_the_form_of_quotation_marks_do_not_matter(quote: str, found: str) -> None:
    span = located(SAID, quote)
    assert span is not None
    assert span.of(SAID) == found


@pytest.mark.parametrize(
    "quote", ["70 euros", "art", "Arty at", "never  once", "i said", "17", "", " ", "\u201c", "...", "(never", "a.*s"]
)
def test_half_words_other_words_and_signs_alone_are_nowhere(quote: str) -> None:
    assert located(SAID, quote) is None


@pytest.mark.parametrize("quote", ["\u6771\u4eac", "\u884c\u304d\u307e\u3057\u305f"])
def test_scripts_without_spaces_are_quoted_anywhere(quote: str) -> None:
    assert located("\u6628\u65e5\u6771\u4eac\u306b\u884c\u304d\u307e\u3057\u305f\u3002", quote) is not None


def test_a_half_word_before_the_whole_one_is_passed_over() -> None:
    span = located("artists like art", "art")
    assert span is not None
    assert span.start == 13
