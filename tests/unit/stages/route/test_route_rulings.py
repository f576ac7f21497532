"""What a language model's rulings may do to memory, what it is told of wrong ones, and what it is shown of an item."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from schemas.extracted import ItemKind, Key
from schemas.normalized import Attitude
from stages.route.asking import Answer, Sheet
from stages.route.evidence import Evidence
from stages.route.ids import about_of
from stages.route.judging import follow
from stages.route.nearest import Compared
from stages.route.routers import MAX_RETIRED, Changes
from tests.fakes.flow import SPACE


def fact(position: int, text: str = "ferry", **more: Any) -> Evidence:
    """Return a fact about the ferry, said on the day of its position."""
    key = more.pop("key", Key(owner="u-1", subject="ferry", attribute=f"other:{position}"))
    kind = more.pop("kind", ItemKind.FACT)
    plain = Evidence(
        id=f"i{position}",
        position=position,
        kind=kind,
        about=about_of(kind, key),
        key=key,
        text=f"{text} {position}",
        value=None,
        object=None,
        negated=False,
        attitude=Attitude.NONE,
        start=None,
        end=None,
        at=position * 86_400,
    )
    return replace(plain, **more)


def ruling(item: int, action: str, target: int = 0, reason: str = "so") -> dict[str, Any]:
    return {"item": item, "action": action, "target": target, "reason": reason}


def answer(*facts: dict[str, Any], **sections: Any) -> Answer:
    return Answer.model_validate_json(json.dumps({"event": [], "fact": facts, "attribute": [], **sections}))


def followed(given: Answer, *pairs: Compared) -> tuple[Changes, int]:
    changes = Changes(SPACE, 99)
    return changes, follow(given, Sheet(pairs), changes)


DAY = 86_400


@pytest.mark.parametrize(
    "new",
    [
        fact(5, key=Key(owner="u-2", subject="ferry", attribute="other:a")),
        fact(5, key=Key(owner="u-1", subject="bus", attribute="other:a")),
        fact(5, suspect=True),
        fact(5, start=0, end=DAY),  # what was so before the old one began
    ],
)
@pytest.mark.parametrize("action", ["change", "correction"])
def test_a_ruling_that_the_guards_forbid_adds_and_is_counted(new: Evidence, action: str) -> None:
    changes, refused = followed(answer(ruling(2, action, 1)), Compared(new, (fact(3),)))
    assert (changes.edges, changes.changed, changes.closed, refused) == ([], [], [], 1)


@pytest.mark.parametrize("action", ["change", "correction", "ignore"])
@pytest.mark.parametrize(
    ("subject", "more"),
    [
        ("ferry", {}),
        ("ferry", {"value": "nine"}),
        ("branch:0", {}),
        (None, {}),
    ],
)
def test_across_attributes_a_named_thing_changes_and_no_more(
    subject: str | None, more: dict[str, Any], action: str
) -> None:
    old, new = (fact(n, key=Key(owner="u-1", subject=subject, attribute=f"other:{n}"), **more) for n in (3, 9))
    changes, refused = followed(answer(ruling(2, action, 1)), Compared(new, (old,)))
    may = action == "ignore" or (action == "change" and subject == "ferry" and not more)
    assert (len(changes.edges), len(changes.retired()), refused) == (may, may and action == "change", not may)


def test_an_event_that_is_over_is_not_taken_back() -> None:
    over = fact(3, start=3 * DAY, end=4 * DAY)
    _changes, refused = followed(answer(ruling(2, "change", 1)), Compared(fact(9), (over,)))
    assert refused == 1


def test_two_visits_are_two_facts() -> None:
    first, second = fact(3, start=3 * DAY, end=4 * DAY), fact(9, start=9 * DAY, end=10 * DAY)
    changes, refused = followed(answer(ruling(2, "ignore", 1)), Compared(second, (first,)))
    assert (changes.edges, refused) == ([], 1)


def test_no_more_is_retired_than_one_event_may() -> None:
    keys = [Key(owner="u-1", subject="ferry", attribute=f"other:{n}") for n in range(13)]
    pairs = [Compared(fact(n + 20, key=keys[n]), (fact(n, key=keys[n]),)) for n in range(1, 13)]
    rulings = (ruling(n + 12, "change" if n % 2 else "correction", n) for n in range(1, 13))
    changes, refused = followed(answer(*rulings), *pairs)
    assert len(changes.retired()) == MAX_RETIRED
    assert refused == 12 - MAX_RETIRED


def test_a_record_is_retired_once_and_what_is_retired_retires_nothing() -> None:
    pairs = [Compared(fact(5), (fact(3),)), Compared(fact(7), (fact(3), fact(5))), Compared(fact(9), (fact(3),))]
    changes, refused = followed(answer(ruling(2, "change", 1), ruling(3, "change", 2), ruling(4, "change", 1)), *pairs)
    assert [(row.id, row.successor) for row in changes.changed] == [("i3", "i5"), ("i5", "i7")]
    assert refused == 1


def test_a_turn_supports_a_record_once() -> None:
    twice = fact(5), replace(fact(5), id="i5b")
    changes, _refused = followed(
        answer(ruling(2, "ignore", 1), ruling(3, "ignore", 1)), *(Compared(one, (fact(3),)) for one in twice)
    )
    assert len(changes.edges) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (answer(ruling(1, "add")), "1 is not the id of a `new`"),
        (answer(ruling(7, "add")), "7 is not the id of a `new`"),
        (answer(ruling(2, "add"), ruling(2, "add")), "judged twice"),
        (answer(ruling(2, "change", 2)), "2 is no statement of this section that was said before 2"),
        (answer(ruling(2, "change", 7)), "7 is no statement"),
        (answer(ruling(2, "change", 0)), "0 is no statement"),
        (answer(ruling(2, "change", 3)), "3 is no statement"),
        (answer(event=[ruling(2, "add")]), "event: 2 is not the id"),
        (answer(attribute=[ruling(4, "change", 1)]), "attribute: 1 is no statement"),
        (answer(ruling(2, "change", 1)), None),
        (answer(ruling(2, "add", 55)), None),
        (answer(), None),
    ],
)
def test_what_an_answer_may_not_say_is_told_to_the_model(given: Answer, words: str | None) -> None:
    attribute = fact(8, kind=ItemKind.ATTRIBUTE)
    before = fact(2, kind=ItemKind.ATTRIBUTE)
    sheet = Sheet([Compared(fact(5), (fact(3),)), Compared(attribute, (before,))])
    assert sheet.numbered == {1: fact(3), 2: fact(5), 3: before, 4: attribute}
    found = sheet.complaint(given)
    assert found == words if words is None or found is None else words in found


def test_a_reason_is_one_printable_line() -> None:
    changes, _ = followed(answer(ruling(2, "change", 1, "a\x00\n b\u202ec ")), Compared(fact(5), (fact(3),)))
    assert changes.changed[0].reason == "a bc"
    changes, _ = followed(answer(ruling(2, "change", 1, " ")), Compared(fact(5), (fact(3),)))
    assert changes.changed[0].reason == "other:5: change"


@pytest.mark.parametrize(
    ("hours", "shown"),
    [
        ((47, 71), {"on": "1970-01-03"}),  # a day of a zone east of Greenwich
        ((53, 77), {"on": "1970-01-03"}),
        ((66, 67), {"on": "1970-01-03"}),
        ((47, 47 + 7 * 24), {"from": "1970-01-03", "until": "1970-01-09"}),
        (None, {}),
    ],
)
def test_days_are_those_of_the_zone_in_which_they_were_said(
    hours: tuple[int, int] | None, shown: dict[str, str]
) -> None:
    times: dict[str, Any] = {} if hours is None else {"start": hours[0] * 3600, "end": hours[1] * 3600}
    asked = json.loads(Sheet([Compared(fact(5, **times), (fact(3),))]).request(SPACE).data)
    assert asked["fact"]["new"] == [{"id": 2, "who": "u-1", "text": "ferry 5", "said": "1970-01-06"} | shown]
