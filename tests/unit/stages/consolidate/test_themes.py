"""Pass 2: topics and personas, and that they change only when what they rest on does."""

from __future__ import annotations

from typing import Any

import pytest

from infra.models.hash_embedder import HashEmbedder
from schemas.consolidation import MAX_SOURCES, Act, Decision
from schemas.extracted import Key, Slot
from schemas.localized import Placement, Rule
from schemas.memory import ChangedRow, CloseCause, ClosedRow, RecordKind, RecordRow, Row, TurnDetail
from schemas.normalized import Attitude, Snippet, Understanding
from schemas.span import Span
from stages.consolidate import Consolidate, live
from stages.consolidate.vocabulary import feels
from stages.ports import Request
from tests.fakes.language_model import Scripted
from tests.fakes.nightly import SPACE, applied, left, remembered

POTTERY = (
    "Mia went to the pottery class.",
    "Mia went to the pottery class again.",
    "Mia went late to the pottery class.",
)


def event(text: str, since: int, **fields: Any) -> RecordRow:
    key = Key(owner=fields.get("owner", "mia"), subject="branch:0", attribute="plans:word")
    return remembered(text, since, **({"kind": RecordKind.EVENT, "key": key, "views": ("plans",)} | fields))


def attribute(text: str, since: int, name: str, view: str, **fields: Any) -> RecordRow:
    key = Key(owner=fields.get("owner", "mia"), subject=None, attribute=name)
    return remembered(text, since, kind=RecordKind.ATTRIBUTE, key=key, views=(view,), **fields)


def liking(text: str, since: int, thing: str, attitude: Attitude = Attitude.POSITIVE, **fields: Any) -> RecordRow:
    slots = (Slot(name="object", value=thing),)
    fields = {"attitude": attitude, "slots": slots} | fields
    return attribute(text, since, f"preference:{thing}", "preferences", **fields)


def turn(since: int, reason: str) -> RecordRow:
    z = Understanding(
        summary="s", topic="t", attitude=Attitude.POSITIVE, reason=Snippet(text=reason, span=Span(start=0, end=1))
    )
    placed = Placement(parent_turn_id=None, rule=Rule.NEW_ROOT, branch=0, interaction=since)
    detail = TurnDetail(turn_id=f"t{since}", revision=0, reply_to=None, z=z, times=(), mentions=(), placement=placed)
    return remembered("said", since, ordinal=9, kind=RecordKind.TURN, key=None, views=(), turn=detail)


async def themes(rows: list[Row], model: Scripted | None = None) -> tuple[Decision, ...]:
    return (await Consolidate(HashEmbedder(), model).themes(SPACE, live(rows))).decisions


def of(act: Act, decisions: tuple[Decision, ...]) -> list[Decision]:
    return [one for one in decisions if one.act is act]


async def test_what_shares_a_word_and_is_near_is_a_topic_with_dated_statements() -> None:
    rows = [event(text, at) for at, text in enumerate(POTTERY)]
    others = [event("Mia sold the old piano.", 7), event(POTTERY[0], 8, owner="ben")]
    (decision,) = await themes(left([*rows, *others]))
    (made,) = decision.records
    assert (made.kind, made.owner, made.run, made.stands_for) == (RecordKind.TOPIC, "mia", None, ())
    assert made.key == Key(owner="mia", subject=None, attribute="topic memory:class pottery")
    assert made.text == "Mia \u2014 class pottery: " + " ".join(f"{text} [2026-03-02]" for text in POTTERY)
    assert made.provenance == ("t0", "t1", "t2")
    assert [(one.id, one.retired) for one in decision.sources] == [(row.id, False) for row in rows]


async def test_one_turn_is_no_topic() -> None:
    rows = [event(text, 3, ordinal=at) for at, text in enumerate(POTTERY)]
    assert await themes(left(rows)) == ()


@pytest.mark.parametrize(
    "fields", [{"suspect": True}, {"rests_on": "pottery"}, {"kind": RecordKind.FACT}], ids=["suspect", "guess", "fact"]
)
async def test_what_nobody_surely_said_of_themselves_reaches_no_topic(fields: dict[str, Any]) -> None:
    assert await themes(left([event(POTTERY[0], 1), event(POTTERY[1], 2, **fields)])) == ()


async def test_a_guess_reaches_no_persona_and_what_confirms_it_does() -> None:
    """Route writes what confirms a guess as an item of its own; the guess stays one, and nothing rests on it."""
    guess, ward, nurse = (
        attribute(text, at, "work", "identity", view_set=1, rests_on=rests_on)
        for at, (text, rests_on) in enumerate(
            [
                ("Mia works as a nurse.", "the ward"),
                ("Mia works on a ward.", None),
                ("Mia works as a nurse.", None),
            ]
        )
    )
    assert of(Act.PERSONA, await themes(left([guess, ward]))) == []
    (decision,) = of(Act.PERSONA, await themes(left([guess, ward, nurse])))
    assert {one.id for one in decision.sources} == {ward.id, nurse.id}
    assert decision.records[0].provenance == ("t1", "t2")


async def test_what_is_no_longer_so_or_still_in_working_memory_reaches_none() -> None:
    rows = [event(POTTERY[0], 1), event(POTTERY[1], 2)]
    changed = ChangedRow(space=SPACE, id=rows[0].id, position=5, successor=rows[1].id)
    assert await themes([*left(rows), changed]) == ()
    assert await themes([*left(rows[:1]), rows[1]]) == ()


async def test_a_name_tells_no_attitude_and_no_name_is_given_twice() -> None:
    said = [
        "Mia loves the wonderful garden fence.",
        "Mia loves the wonderful garden gate.",
        "Mia hates baking bread in summer.",
        "Mia hates baking bread for guests.",
    ]
    decisions = of(Act.TOPIC, await themes(left([event(text, at) for at, text in enumerate(said)])))
    names = [one.records[0].key.attribute for one in decisions if one.records[0].key]
    assert names
    assert len(set(names)) == len(names)
    assert [word for name in names for word in name.partition(":")[2].split() if feels(word)] == []


async def test_a_second_look_decides_nothing_and_a_new_statement_makes_a_new_version() -> None:
    before = left([event(text, at) for at, text in enumerate(POTTERY[:2])])
    first = await themes(before)
    after = applied(before, first)
    assert await themes(after) == ()
    grown = [*after, *left([event(POTTERY[2], 40)])]
    (decision,) = await themes(grown)
    old = next(row for row in after if isinstance(row, RecordRow) and row.kind is RecordKind.TOPIC)
    assert [one.id for one in decision.retired] == [old.id]
    assert decision.records[0].stands_for == (old.id,)
    assert await themes(applied(grown, [decision], "night-2")) == ()


async def test_a_topic_whose_statements_are_gone_is_retired_without_a_successor() -> None:
    rows = [event(text, at) for at, text in enumerate(POTTERY[:2])]
    after = applied(left(rows), await themes(left(rows)))
    gone = ClosedRow(space=SPACE, id=rows[0].id, until=500, cause=CloseCause.CORRECTION)
    (decision,) = await themes([*after, gone])
    assert (decision.records, len(decision.retired)) == ((), 1)
    assert await themes(applied([*after, gone], [decision], "night-2")) == ()


async def test_a_decision_names_no_more_than_it_may_and_a_text_is_bounded() -> None:
    rows = [event(f"Mia went to the pottery class number {at}.", at) for at in range(90)]
    others = [event(f"Mia visited place{at}.", at) for at in range(100, 200)]
    (decision,) = await themes(left([*rows, *others]))
    assert len(decision.sources) <= MAX_SOURCES
    assert len(decision.records[0].text) <= 600
    assert "number 89." in decision.records[0].text


async def test_a_preference_has_attitude_object_and_reason_and_needs_two_turns() -> None:
    rows = [
        liking("Mia loves pottery class.", 1, "pottery"),
        event("Mia went to the pottery class.", 4),
    ]
    told = of(Act.PERSONA, await themes(left([*rows, turn(1, "it calms me down.")])))
    (made,) = told[0].records
    assert (made.kind, made.owner, made.attitude) == (RecordKind.PERSONA, "mia", Attitude.POSITIVE)
    assert made.text.startswith("Mia likes pottery (says: it calms me down): ")
    assert {(slot.name, slot.value) for slot in made.slots} == {("object", "pottery"), ("reason", "it calms me down")}
    assert made.key is not None
    assert made.key.attribute.startswith("persona:preference:")
    assert await themes(left(rows[:1])) == ()


@pytest.mark.parametrize(
    "liked",
    [
        liking("Mia would love a pottery class.", 1, "pottery"),
        liking("She'd love a pottery class.", 1, "pottery"),
        liking("Mia is at the pottery class.", 1, "pottery", Attitude.NONE),
        liking("Mia loves sailing to the class.", 1, "sailing"),
    ],
    ids=["a wish", "a short wish", "no attitude", "another thing"],
)
async def test_what_says_no_liking_of_the_theme_is_no_preference(liked: RecordRow) -> None:
    decisions = await themes(left([liked, event("Mia went to the pottery class.", 4)]))
    assert of(Act.PERSONA, decisions) == []


async def test_a_reason_that_only_likes_is_left_out() -> None:
    rows = [liking("Mia loves pottery class.", 1, "pottery"), event("Mia went to the pottery class.", 4)]
    (told,) = of(Act.PERSONA, await themes(left([*rows, turn(1, "since I love it.")])))
    assert told.records[0].text.startswith("Mia likes pottery: ")


async def test_two_minds_are_told_as_such() -> None:
    rows = [
        liking("Mia loves pottery class.", 1, "pottery"),
        liking("Mia dislikes pottery class on Mondays.", 4, "pottery", Attitude.NEGATIVE),
    ]
    (told,) = of(Act.PERSONA, await themes(left(rows)))
    assert told.records[0].text.startswith("Mia is of two minds about pottery")


async def test_sides_of_a_person_come_from_attributes_that_have_a_name() -> None:
    named = [
        attribute("Mia works as a nurse.", 1, "work:job", "identity"),
        attribute("Mia is 40 years old.", 5, "identity:age", "identity", ordinal=1),
        attribute("Mia has got a surge of energy.", 6, "possession:energy", "places"),
        attribute("Mia has a funny story.", 9, "possession:story", "places"),
        attribute("Mia thinks so, too.", 7, "health:so", "health"),
        attribute("Mia feels so, too.", 8, "health:feel", "health"),
    ]
    named[1] = named[1].model_copy(update={"key": Key(owner="mia", subject=None, attribute="age")})
    (told,) = of(Act.PERSONA, await themes(left(named)))
    (made,) = told.records
    assert made.key == Key(owner="mia", subject=None, attribute="persona:aspect:identity")
    assert made.text == ("Mia \u2014 identity: Mia works as a nurse. [2026-03-02] Mia is 40 years old. [2026-03-02]")


def writes(request: Request[Any]) -> object:
    if request.prompt.name.endswith("persona"):
        return {"text": "Mia likes pottery class."}
    return {"groups": [{"name": "pottery class", "members": [1, 2], "text": "Mia went to the pottery class."}]}


ROWS = [liking("Mia loves pottery class.", 1, "pottery"), event("Mia went to the pottery class.", 4)]


async def test_a_model_names_and_writes_and_the_next_night_finds_it_so() -> None:
    model = Scripted(writes)
    found = await themes(left(ROWS), model)
    assert [one.records[0].text for one in found] == [
        "Mia \u2014 pottery class: Mia went to the pottery class.",
        "Mia likes pottery class.",
    ]
    assert await themes(applied(left(ROWS), found), model) == ()


@pytest.mark.parametrize(
    ("name", "text", "degraded"),
    [("pottery class", "Mia sculpts in clay.", 0), ("love of pottery", "Mia.", 1), ("so, and so", "Mia.", 1)],
    ids=["an invented text", "a name that feels", "a name that names nothing"],
)
async def test_what_a_model_invents_does_not_stand(name: str, text: str, degraded: int) -> None:
    def say(request: Request[Any]) -> object:
        if request.prompt.name.endswith("persona"):
            return None
        return {"groups": [{"name": name, "members": [1, 2], "text": text}]}

    plan = await Consolidate(HashEmbedder(), Scripted(say)).themes(SPACE, live(left(ROWS)))
    texts = [one.records[0].text for one in plan.decisions]
    assert all("sculpts" not in text for text in texts)
    assert texts[0].endswith(": Mia loves pottery class. [2026-03-02] Mia went to the pottery class. [2026-03-02]")
    assert plan.degraded == degraded + 1  # the persona's answer is of no use, too
