"""Pass 1: what becomes one record, what stays apart and why, within its bound."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.models.hash_embedder import HashEmbedder
from schemas.consolidation import MAX_SOURCES, Act
from schemas.extracted import Key, Slot
from schemas.interval import Grain, Interval
from schemas.memory import RecordKind, RecordRow
from schemas.normalized import Attitude
from schemas.structured import Form
from stages.consolidate import Apart, Consolidate, Live, Plan, live
from stages.contract import Unavailable
from stages.ports import Request
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.language_model import Scripted
from tests.fakes.nightly import SPACE, applied, left, remembered

BOAT = "Ida has a boat."
LONG = "wooden boats with two masts in the old harbour behind the fish market of Kiel."
NAMED = "Ida has a boat called Anna, with two masts."


class Alike(DigestEmbedder):
    """All texts are near each other: what is proposed is not what these tests are about."""

    def _vector(self, text: str) -> bytes:
        return bytes([127] + [0] * 15)


async def plan(*rows: RecordRow, model: Scripted | None = None, most: int = 64) -> Plan:
    embedder = HashEmbedder() if model is None else Alike()
    return await Consolidate(embedder, model).merges(SPACE, live(left(rows)), most)


def day(number: int) -> Interval:
    return Interval(
        start=datetime(2026, 3, number, tzinfo=UTC), end=datetime(2026, 3, number + 1, tzinfo=UTC), grain=Grain.DAY
    )


async def test_an_exact_duplicate_keeps_the_first_and_all_that_the_others_know() -> None:
    first = remembered(BOAT, 3, views=("other",), attitude=Attitude.NONE, slots=(Slot(name="thing", value="boat"),))
    second = remembered("ida has a boat", 9, views=("places", "other"), attitude=Attitude.POSITIVE, occurrences=2)
    (decision,) = (await plan(second, first)).decisions
    assert (decision.act, [one.id for one in decision.retired]) == (Act.DUPLICATE, [first.id, second.id])
    (made,) = decision.records
    assert (made.text, made.provenance, made.said_at, made.occurrences) == (BOAT, ("t3", "t9"), 3, 3)
    assert (made.views, made.attitude, made.at) == (("other", "places"), Attitude.POSITIVE, first.at)
    assert (made.stands_for, made.slots, made.span) == ((first.id, second.id), first.slots, first.span)


async def test_what_another_says_whole_goes_into_it() -> None:
    (decision,) = (await plan(remembered(BOAT, 1), remembered(NAMED, 5), remembered(BOAT, 7))).decisions
    (made,) = decision.records
    assert (decision.act, made.text, made.provenance) == (Act.MERGE, NAMED, ("t1", "t5", "t7"))
    assert (made.said_at, made.at) == (1, remembered(BOAT, 1).at)


OTHER: list[dict[str, Any]] = [
    {"owner": "ben", "key": Key(owner="ben", subject="branch:0", attribute="other:x")},
    {"branch": 4, "key": Key(owner="mia", subject="branch:4", attribute="other:x")},
    {"key": Key(owner="mia", subject="anna", attribute="other:x")},
    {"key": Key(owner="mia", subject="branch:0", attribute="boat owned")},
    {"kind": RecordKind.EVENT},
    {"interval": day(3)},
    {"negated": True},
    {"suspect": True},
    {"rests_on": "a boat"},
    {"run": "undo-night-1"},
]


@pytest.mark.parametrize("fields", OTHER, ids="-".join)
async def test_what_differs_in_more_than_words_stays_apart(fields: dict[str, Any]) -> None:
    assert (await plan(remembered(BOAT, 1), remembered(BOAT, 2, **fields))).decisions == ()
    assert (await plan(remembered(NAMED, 1), remembered(BOAT, 2, **fields))).decisions == ()


async def test_a_head_word_that_rules_wrote_is_no_key_and_a_persona_holds_in_all_branches() -> None:
    one, other = (Key(owner="mia", subject=None, attribute=f"identity:{word}") for word in ("boat", "anna"))
    fields = {"kind": RecordKind.ATTRIBUTE, "views": ("identity",)}
    rows = remembered(BOAT, 1, key=one, **fields), remembered(BOAT, 2, key=other, branch=9, **fields)
    assert len((await plan(*rows)).decisions) == 1


async def test_opposite_attitudes_and_other_values_stay_apart() -> None:
    liked, disliked = remembered(NAMED, 1, attitude=Attitude.POSITIVE), remembered(BOAT, 2, attitude=Attitude.NEGATIVE)
    assert (await plan(liked, disliked)).decisions == ()
    values = (remembered(BOAT, at, slots=(Slot(name="value", value=text),)) for at, text in ((1, "sloop"), (2, "yawl")))
    assert (await plan(*values)).decisions == ()


async def test_the_same_words_are_one_however_the_turns_around_them_feel() -> None:
    rows = [remembered(BOAT, at, attitude=one) for at, one in ((1, Attitude.POSITIVE), (2, Attitude.NEGATIVE))]
    (decision,) = (await plan(*rows)).decisions
    assert decision.records[0].attitude is Attitude.MIXED


async def test_changed_and_working_records_are_left_alone() -> None:
    rows = remembered(BOAT, 1), remembered(BOAT, 2)
    changed = [Live(rows[0], changed=True), Live(rows[1])]
    working = [Live(rows[0]), Live(rows[1], working=True)]
    for given in (changed, working):
        assert (await Consolidate(HashEmbedder()).merges(SPACE, given, 64)).decisions == ()


async def test_equal_lists_become_one_and_others_do_not() -> None:
    def listed(since: int, *members: str, form: Form = Form.LIST) -> RecordRow:
        fields = {"form": form, "heading": "To pack", "members": members, "views": ()}
        return remembered("\n".join(members), since, kind=RecordKind.STRUCTURED, key=None, **fields)

    same = listed(1, "rope", "2 sails"), listed(2, "Rope", "two sails.")
    others = listed(3, "2 sails", "rope"), listed(4, "rope", "2 sails", form=Form.STEPS)
    (decision,) = (await plan(*same, *others)).decisions
    assert [one.id for one in decision.sources] == [row.id for row in same]
    assert decision.records[0].members == ("rope", "2 sails")


async def test_the_bound_of_a_run_holds_and_the_rest_comes_next() -> None:
    rows = [remembered(f"Ida has boat {name}.", at) for at, name in enumerate("aabbccdd")]
    first = await plan(*rows, most=5)
    assert (len(first.decisions), first.left) == (2, 2)
    after = applied(left(rows), first)
    second = await Consolidate(HashEmbedder()).merges(SPACE, live(after), 5)
    third = await Consolidate(HashEmbedder()).merges(SPACE, live(applied(after, second, "night-2")), 5)
    assert (len(second.decisions), second.left, len(third.decisions), third.left) == (2, 0, 0, 0)


async def test_more_duplicates_than_a_decision_may_name_take_two_nights() -> None:
    rows = [remembered(BOAT, at) for at in range(MAX_SOURCES + 10)]
    first = await plan(*rows, most=1000)
    assert [len(one.sources) for one in first.decisions] == [MAX_SOURCES]
    assert first.left == 1
    second = await Consolidate(HashEmbedder()).merges(SPACE, live(applied(left(rows), first)), 1000)
    (made,) = second.decisions[0].records
    assert made.provenance == tuple(f"t{at}" for at in range(MAX_SOURCES + 10))
    assert made.occurrences == MAX_SOURCES + 10


async def test_the_report_says_what_stays_apart_and_why() -> None:
    twin = remembered(BOAT, 2, branch=4, key=Key(owner="mia", subject="branch:4", attribute="other:x"))
    numbers = remembered(f"Ida has 3 {LONG}", 5), remembered(f"Ida has 4 {LONG}", 6)
    first = remembered(BOAT, 1)
    told = (await plan(first, twin, *numbers)).apart
    assert Apart((first.id, twin.id), (BOAT, BOAT), "in another thread") in told
    assert {(one.reason, one.texts) for one in told} == {
        ("in another thread", (BOAT, BOAT)),
        ("other numbers", tuple(row.text for row in numbers)),
    }


def says(*groups: dict[str, Any]) -> Scripted:
    return Scripted(lambda request: {"groups": list(groups)})


CALLED, LIES = "Ida's boat is called Anna.", "Ida's boat lies in Kiel."
BOTH = "Ida's boat is called Anna and lies in Kiel."


async def test_a_model_joins_what_completes_each_other() -> None:
    model = says({"case": "complementarity", "members": [1, 2], "text": BOTH})
    found = await plan(remembered(CALLED, 1), remembered(LIES, 2), model=model)
    (made,) = found.decisions[0].records
    assert (found.decisions[0].act, made.text, found.degraded) == (Act.MERGE, BOTH, 0)
    assert made.provenance == ("t1", "t2")


@pytest.mark.parametrize(
    "text",
    [
        "Ida's boat is called Anna.",
        "Ida's boat is called Anna and lies in Kiel since 2019.",
        "Ida's boat is not called Anna and lies in Kiel.",
        "",
    ],
)
async def test_a_rewrite_that_loses_or_adds_something_is_of_no_use(text: str) -> None:
    model = says({"case": "complementarity", "members": [1, 2], "text": text})
    found = await plan(remembered(CALLED, 1), remembered(LIES, 2), model=model)
    assert (found.decisions, found.degraded) == ((), 1)


async def test_what_a_model_may_not_join_stays_apart_and_the_rest_of_its_answer_stands() -> None:
    rows = [remembered(text, at) for at, text in enumerate((CALLED, LIES, "Ida's boat is red.", "Ida's boat is blue."))]
    model = says(
        {"case": "complementarity", "members": [1, 2], "text": BOTH},
        {"case": "containment", "members": [3, 4], "text": "Ida's boat is red. Ida's boat is blue."},
    )
    found = await plan(*rows, model=model)
    assert [one.records[0].text for one in found.decisions] == [BOTH]
    assert any(one.reason.startswith("refused to the model: other details") for one in found.apart)


@pytest.mark.parametrize("members", [[1, 3], [1, 1], [0, 1]])
async def test_numbers_that_were_not_shown_are_of_no_use_and_rules_stand_in(members: list[int]) -> None:
    model = says({"case": "containment", "members": members, "text": NAMED})
    found = await plan(remembered(BOAT, 1), remembered(NAMED, 2), model=model)
    assert (len(found.decisions), found.degraded) == (1, 1)


def eager(request: Request[Any]) -> object:
    shown = json.loads(request.data)["statements"]
    text = " ".join(one["text"] for one in shown)
    return {"groups": [{"case": "complementarity", "members": [one["id"] for one in shown], "text": text}]}


async def test_a_second_night_with_the_same_model_decides_nothing() -> None:
    texts = (CALLED, LIES, "Ida bought the boat from Ben.", "The mast was mended by her uncle.")
    rows = left([remembered(text, at // 2, ordinal=at % 2) for at, text in enumerate(texts)])
    consolidate = Consolidate(Alike(), Scripted(eager))
    first = await consolidate.merges(SPACE, live(rows), 64)
    assert first.decisions
    after = applied(rows, first)
    assert (await consolidate.merges(SPACE, live(after), 64)).decisions == ()


async def test_independence_is_respected_even_where_rules_would_join() -> None:
    model = says({"case": "independence", "members": [1, 2], "text": ""})
    assert (await plan(remembered(BOAT, 1), remembered(NAMED, 2), model=model)).decisions == ()


async def test_a_cluster_is_one_request_with_small_numbers_and_no_more_than_twenty() -> None:
    model = says()
    await plan(*(remembered(f"Ida has boat number {at} in the old harbour.", at) for at in range(30)), model=model)
    shown = [json.loads(request.data)["statements"] for request in model.asked]
    assert all([one["id"] for one in each] == list(range(1, len(each) + 1)) for each in shown)
    assert 0 < max(map(len, shown)) <= 20


async def test_no_answer_at_all_is_no_decision() -> None:
    def away(request: Request[Any]) -> object:
        msg = "the model does not answer"
        raise Unavailable(msg)

    with pytest.raises(Unavailable):
        await plan(remembered(BOAT, 1), remembered(NAMED, 2), model=Scripted(away))
