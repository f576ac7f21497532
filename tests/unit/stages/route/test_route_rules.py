"""ADD, UPDATE or IGNORE of a new item against an older one on the same key: each rule apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.extracted import ItemKind, Key
from schemas.normalized import Attitude
from stages.route.evidence import Evidence
from stages.route.ids import about_of
from stages.route.rules import DEFAULT_DENSE, Action, judge

DAY = 24 * 3600
LIKES, HATES, NEUTRAL = Attitude.POSITIVE, Attitude.NEGATIVE, Attitude.NONE


def item(text: str, position: int, *, attribute: str = "work:move", **more: Any) -> Evidence:
    """Return a fact of Mia's at ``position``, said at that day; ``more`` are its other fields."""
    key = Key(owner="u-1", subject=None, attribute=attribute)
    plain = Evidence(
        id=f"i{position}",
        position=position,
        kind=ItemKind.FACT,
        about=about_of(ItemKind.FACT, key),
        key=key,
        text=text,
        value=None,
        object=None,
        negated=False,
        attitude=NEUTRAL,
        start=None,
        end=None,
        at=position * DAY,
    )
    return replace(plain, **more)


def verdict(old: Evidence, new: Evidence) -> tuple[Action, str] | None:
    found = judge(new, old, DEFAULT_DENSE)
    return None if found is None else (found.action, found.reason)


BAND = "Mia's band plays at the harbour club"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({}, {"negated": True}, (Action.UPDATE, "now denied")),
        ({"negated": True}, {}, (Action.UPDATE, "no longer denied")),
        ({}, {}, (Action.IGNORE, "says again (closeness 1000)")),
        ({}, {"changes": True}, (Action.IGNORE, "says again (closeness 1000)")),
        ({}, {"changes": True, "start": 5 * DAY, "end": 6 * DAY}, (Action.UPDATE, "says that it changed")),
        ({}, {"start": 5 * DAY, "end": 6 * DAY}, None),
        ({"start": 1 * DAY, "end": 2 * DAY}, {"negated": True}, None),
        ({"suspect": True}, {"negated": True}, None),
        ({}, {"negated": True, "suspect": True}, None),
    ],
)
def test_statements_in_words(old: dict[str, Any], new: dict[str, Any], expected: tuple[Action, str] | None) -> None:
    assert verdict(item(BAND, 1, **old), item(BAND, 5, **new)) == expected


@pytest.mark.parametrize(
    "new",
    [item(BAND, 1, negated=True), item(BAND, 0, negated=True), item(BAND, 5, attribute="work:else", negated=True)],
)
def test_no_statement_touches_one_of_its_turn_a_later_one_or_one_of_another_key(new: Evidence) -> None:
    assert verdict(item(BAND, 1), new) is None


def test_other_numbers_are_another_fact() -> None:
    assert verdict(item(f"{BAND} at 9", 1), item(f"{BAND} at 10", 5)) is None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (("jazz", LIKES), ("jazz", LIKES), (Action.IGNORE, "says again: positive about jazz")),
        (("jazz", LIKES), ("jazz", HATES), (Action.UPDATE, "preference:jazz: positive -> negative")),
        (("jazz", LIKES), ("jazz", NEUTRAL), None),
        (("thai food", LIKES), ("italian food", HATES), None),
        (("thai food", LIKES), ("spicy thai food", HATES), (Action.UPDATE, "preference:jazz: positive -> negative")),
    ],
)
def test_preferences(old: tuple[str, Attitude], new: tuple[str, Attitude], expected: tuple[Action, str] | None) -> None:
    before = item("before", 1, attribute="preference:jazz", object=old[0], attitude=old[1])
    after = item("after", 5, attribute="preference:jazz", object=new[0], attitude=new[1])
    assert verdict(before, after) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (("oslo", 1, 2), ("oslo", 2, 3), None),
        (("oslo", 1, 3), ("oslo", 2, 4), (Action.IGNORE, "says again: oslo")),
        (("oslo", None, None), ("oslo", 2, 3), (Action.IGNORE, "says again: oslo")),
        (("oslo", 1, 2), ("rome", 3, 4), (Action.UPDATE, "work:move: oslo -> rome")),
        (("oslo", 3, 4), ("rome", 1, 2), None),
    ],
)
def test_values_take_over_in_the_order_of_their_own_times(
    old: tuple[str, int | None, int | None],
    new: tuple[str, int | None, int | None],
    expected: tuple[Action, str] | None,
) -> None:
    (before, after) = (
        item("moved", position, value=value, start=start and start * DAY, end=end and end * DAY)
        for position, (value, start, end) in ((1, old), (5, new))
    )
    assert verdict(before, after) == expected
