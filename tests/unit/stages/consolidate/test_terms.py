"""The canonical form of a statement, and when one says all that another says."""

from __future__ import annotations

import pytest

from stages.consolidate.conflicts import apart
from stages.consolidate.containment import contains, same
from stages.consolidate.grounded import invented, ungrounded
from stages.consolidate.terms import terms

ONE = [
    ("Ida doesn't own a boat.", "ida does not own a boat"),
    ("Ida cant swim!", "Ida can't swim."),
    ("The ferry takes six hours.", "The ferry takes 6 hours"),
    ("It seats twenty-five.", "It seats 25."),
    ("It cost two hundred euros.", "It cost 200 euros."),
    ("Ida earns 1,200 a month.", "Ida earns 1200 a month."),
    ("The trip is on Monday.", "The trip is Monday."),
    ("健太はＪＲで行く。", "健太はJRで行く"),
    ("Ida has ٣ cats.", "Ida has 3 cats."),
]
TWO = [
    ("Ida writes C.", "Ida writes C++."),
    ("It is 5 degrees.", "It is -5 degrees."),
    ("It cost €20.", "It cost $20."),
    ("Ida likes Polish food.", "Ida likes polish food."),
    ("Ida pays Ben.", "Ben pays Ida."),
    ("Ida got an A-.", "Ida got an A+."),
    ("Ida has 12 cats.", "Ida has 21 cats."),
]


@pytest.mark.parametrize(("left", "right"), ONE)
def test_one_statement_in_two_spellings(left: str, right: str) -> None:
    assert same(terms(left), terms(right))


@pytest.mark.parametrize(("left", "right"), TWO)
def test_two_statements_that_look_like_one(left: str, right: str) -> None:
    assert not same(terms(left), terms(right))


HELD = [
    ("Ida has a boat called Möwe.", "Ida has a boat."),
    ("Ida has a red boat.", "Ida has a boat."),
    ("Yeah, Ida has a boat.", "Ida has a boat."),
    ("Ida has a boat. It lies in Kiel.", "Ida has a boat."),
    ("Ida sails every Sunday with her brother in Kiel.", "Ida sails every Sunday with her brother."),
    ("Ida does not eat meat, not even at weddings.", "Ida does not eat meat."),
    ("Ida segelt seit Mai im Verein.", "Ida segelt im Verein."),
]
NOT_HELD = [
    ("Ida has a boat trailer.", "Ida has a boat."),
    ("Ida has a toy boat in the garden.", "Ida has a boat in the garden."),
    ("Ida has a boat, but not any more.", "Ida has a boat."),
    ("Ida sails if it is warm.", "Ida sails."),
    ("Maybe Ida has a boat.", "Ida has a boat."),
    ("Ben said Ida has a boat.", "Ida has a boat."),
    ("The trip takes 1 hour and 30 minutes.", "The trip takes 1 hour."),
    ("Ida lived two and a half years in Kiel.", "Ida lived two years in Kiel."),
    ("Ida goes to Kiel or Bremen.", "Ida goes to Kiel."),
    ("Ida has a boat.", "Ida has a boat."),
    ("Ida is a fan of this band.", "Ida is a fan."),
]


@pytest.mark.parametrize(("long", "short"), HELD)
def test_a_statement_with_a_detail_more_says_the_other(long: str, short: str) -> None:
    assert contains(terms(long), terms(short))
    assert not contains(terms(short), terms(long))


@pytest.mark.parametrize(("long", "short"), NOT_HELD)
def test_what_limits_doubts_or_takes_back_is_no_detail(long: str, short: str) -> None:
    assert not contains(terms(long), terms(short))


COMPLETING = [
    ("Ida's boat is called Möwe.", "Ida's boat lies in Kiel."),
    ("Ida works as a nurse.", "Ida works at the harbour clinic."),
    ("Mr. Berg is Ida's landlord.", "Ida's landlord is Mr. Berg."),
]
COMPETING = [
    ("Ida's boat is red.", "Ida's boat is blue."),
    ("Ida sails to Kiel.", "Ida sails to Bremen."),
    ("Ida loves herring.", "Ida hates herring."),
    ("Ida pays Ben.", "Ben pays Ida."),
    ("Ida has 2 boats.", "Ida has 3 boats."),
    ("Ida wants to buy a boat.", "Ida bought a boat."),
]


@pytest.mark.parametrize(("left", "right"), COMPLETING)
def test_sides_of_one_thing_may_become_one(left: str, right: str) -> None:
    assert apart(terms(left), terms(right), {"ida", "ida's"}) is None


@pytest.mark.parametrize(("left", "right"), COMPETING)
def test_details_at_one_place_of_a_frame_stay_apart(left: str, right: str) -> None:
    assert apart(terms(left), terms(right), {"ida", "ida's"}) is not None
    assert apart(terms(right), terms(left), {"ida", "ida's"}) is not None


SOURCES = ["Ida's boat is called Möwe.", "Ida's boat has 2 masts and no engine."]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Ida's boat is called Möwe and has 2 masts and no engine.", None),
        ("Ida's boat is called Möwe and has masts and no engine.", "2"),
        ("Ida's boat has 2 masts and no engine.", "möwe"),
        ("Ida's boat is called Möwe and has 2 masts and an engine.", "denies"),
        ("Ida's old boat is called Möwe and has 2 masts and no engine.", "old"),
        ("Ida's boat is called Möwe and has 3 masts and no engine.", "3"),
        ("!", "nothing"),
    ],
)
def test_a_rewrite_says_what_its_sources_say_and_nothing_else(text: str, fault: str | None) -> None:
    found = ungrounded(text, SOURCES)
    assert found is None if fault is None else fault in (found or "")


def test_a_summary_may_leave_things_out_and_adds_none() -> None:
    assert invented("Ida's boat is called Möwe.", SOURCES) is None
    assert "sails" in (invented("Ida sails the Möwe.", SOURCES) or "")
    assert invented("Ida's boat is not called Möwe and has no engine, never.", SOURCES) is not None
