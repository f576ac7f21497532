"""Decisions of consolidation at route: each done whole, or refused and counted."""

from __future__ import annotations

import pytest

from schemas.consolidation import Act, Decision
from schemas.header import RecordRole, record_id
from schemas.memory import (
    ITEM_KINDS,
    CloseCause,
    ClosedRow,
    EdgeRow,
    EdgeType,
    LeftRow,
    RecordKind,
    RecordRow,
    Row,
)
from stages.contract import WINDOW
from stages.route import made as making
from stages.route.row import KeptItem
from stages.route.state import RouteState
from stages.text.spoken import has_vector
from tests.fakes.flow import BEN, MIA, SPACE, START, Flow
from tests.fakes.nights import content, duplicate, named, persona, standing, topic, undone

NEAR, FAR = 1, WINDOW + 8


async def told(*texts: str, behind: int = 0) -> Flow:
    """Tell these, drain working memory, and let that many events pass."""
    flow = Flow()
    for n, text in enumerate(texts):
        await flow.say(text, f"t{n}")
    await flow.drain()
    await pass_by(flow, behind)
    return flow


async def pass_by(flow: Flow, events: int) -> None:
    """Let others speak; most of it says nothing, since what is counted are events."""
    for n in range(events):
        text = "Hm." if n % 8 else f"Tram number {n} was late."
        flow.idle = bool(n % 8)
        await flow.say(text, f"x{flow.position}", speaker=BEN)
    flow.idle = False


def items(flow: Flow, word: str) -> list[RecordRow]:
    return [row for row in standing(flow.rows, *ITEM_KINDS) if word in row.text]


def made(rows: tuple[Row, ...]) -> list[RecordRow]:
    return [row for row in rows if isinstance(row, RecordRow)]


def stale(flow: Flow) -> int:
    return flow.routed[-1].stale


@pytest.mark.parametrize("behind", [0, FAR])
async def test_a_duplicate_becomes_one_record_resting_on_both_turns(behind: int) -> None:
    flow = await told("I have two cats.", "I have two cats.", behind=behind)
    old = items(flow, "cats")
    position = flow.position
    rows = await flow.consolidate(duplicate(*old))
    (one,) = made(rows)
    assert (len(old), stale(flow)) == (2, 0)
    assert one.id == record_id(SPACE, position, RecordRole.CONSOLIDATED, 0)
    assert (one.since, one.said_at, one.run, one.occurrences) == (position, 0, "r1", 2)
    assert one.provenance == ("t0", "t1")
    closed = {row.id: row for row in rows if isinstance(row, ClosedRow)}
    assert set(closed) == {row.id for row in old}
    assert {(row.cause, row.successor, row.until) for row in closed.values()} == {(CloseCause.MERGE, one.id, position)}
    assert [row.id for row in rows if isinstance(row, LeftRow)] == [one.id]
    edges = {(row.source, row.type) for row in rows if isinstance(row, EdgeRow) and row.target == one.id}
    assert edges == {(record_id(SPACE, n, "turn"), EdgeType.SUPPORTS) for n in (0, 1)}
    assert {row.target for row in rows if isinstance(row, EdgeRow) and row.type is EdgeType.SUPERSEDES} == set(closed)
    assert [flow.memory.vectors[one.id]] == await flow.embedder.embed([one.text])
    flow.check()


@pytest.mark.parametrize("behind", [0, FAR])
async def test_the_same_event_again_does_nothing(behind: int) -> None:
    flow = await told("I have two cats.", "I have two cats.")
    old = items(flow, "cats")
    decisions = [duplicate(*old), topic("pets", old[0]), persona("kind to cats", old[0])]
    first = await flow.consolidate(*decisions[1:], decisions[0])
    assert len(made(first)) == 3
    await pass_by(flow, behind)
    assert not made(await flow.consolidate(*decisions))
    assert stale(flow) == 3


async def test_a_topic_stands_once_though_what_it_rests_on_is_open() -> None:
    flow = await told("I have two cats.")
    decision = topic("pets", *items(flow, "cats"))
    twice = await flow.consolidate(decision, decision)
    (one,) = made(twice)
    assert (stale(flow), one.kind) == (1, RecordKind.TOPIC)
    assert one.id in flow.memory.vectors
    assert [row.target for row in twice if isinstance(row, EdgeRow) and row.type is EdgeType.MENTIONS] == [one.id]
    await pass_by(flow, FAR)
    again = await flow.consolidate(decision)
    assert (made(again), stale(flow)) == ([], 1)
    newer = await flow.consolidate(topic("pets", *items(flow, "cats"), before=one, text="Cats."))
    assert [row.id for row in newer if isinstance(row, ClosedRow)] == [one.id]


STALE = {
    "a text that is another": lambda row: named(content(row, text="I have two dogs."), row.id, retired=True),
    "a record that is nowhere": lambda row: named(row, record_id(SPACE, 9, "item", 9), retired=True),
}


@pytest.mark.parametrize("behind", [0, FAR])
@pytest.mark.parametrize("what", STALE)
async def test_what_is_not_as_it_was_is_refused(what: str, behind: int) -> None:
    flow = await told("I have two cats.", "I have two cats.", behind=behind)
    first, second = items(flow, "cats")
    good = duplicate(first, second)
    bad = good.model_copy(update={"sources": (good.sources[0], STALE[what](second))})
    rows = await flow.consolidate(bad, good)
    assert stale(flow) == 1
    assert [row.id for row in made(rows)] == [record_id(SPACE, flow.position - 1, RecordRole.CONSOLIDATED, 1)]


@pytest.mark.parametrize("behind", [0, FAR])
async def test_a_record_is_retired_once_in_an_event_and_after(behind: int) -> None:
    flow = await told(*["I have two cats."] * 3, behind=behind)
    a, b, c = items(flow, "cats")
    rows = await flow.consolidate(duplicate(a, b), duplicate(b, c))
    assert (len(made(rows)), stale(flow)) == (1, 1)
    await flow.consolidate(duplicate(b, c), run="r2")
    assert stale(flow) == 1
    (one,) = made(rows)
    (last,) = made(await flow.consolidate(duplicate(one, c), run="r2"))
    assert (last.occurrences, last.provenance, last.said_at) == (3, ("t0", "t1", "t2"), 0)
    flow.check()


@pytest.mark.parametrize("behind", [0, FAR])
@pytest.mark.parametrize("act", [Act.UNDO, Act.TOPIC, Act.PERSONA])
async def test_what_was_said_is_never_retired_without_a_successor(behind: int, act: Act) -> None:
    flow = await told("I have two cats.", behind=behind)
    (one,) = items(flow, "cats")
    rows = await flow.consolidate(Decision(act=act, sources=(named(one, one.id, retired=True),), reason="gone"))
    assert (made(rows), stale(flow), items(flow, "cats")) == ([], 1, [one])


@pytest.mark.parametrize("behind", [0, FAR])
async def test_a_turn_and_what_a_turn_speaks_of_are_never_retired(behind: int) -> None:
    flow = await told("I have two cats.", "I have two cats.", behind=behind)
    (cats, _other), turns = items(flow, "cats"), flow.records(RecordKind.TURN)[:2]
    for rows in (turns, [cats, turns[0]], [cats, flow.records(RecordKind.TOPIC)[0]]):
        assert not await_rows(await flow.consolidate(duplicate(*rows)))
        assert stale(flow) == 1


def await_rows(rows: tuple[Row, ...]) -> list[Row]:
    return [row for row in rows if row.row != "outcome"]


@pytest.mark.parametrize("drained", [False, True])
async def test_what_no_router_has_seen_is_judged_as_what_the_night_made_of_it(*, drained: bool) -> None:
    """Both say that something changed: what they change must not stay as it was."""
    flow = await told("I live in Oslo.", behind=FAR)
    await flow.say("I moved to Berlin.", "a")
    await flow.say("I moved to Berlin.", "b")
    pair = items(flow, "Berlin")
    (one,) = made(await flow.consolidate(duplicate(*pair)))
    if drained:
        await flow.drain()
    assert not flow.changed()
    await pass_by(flow, FAR)
    assert [(flow.text(row.id), row.successor) for row in flow.changed()] == [
        (row.text, one.id) for row in items_of(flow, "Oslo")
    ]
    assert not flow.routing.judging
    flow.check()


def items_of(flow: Flow, word: str) -> list[RecordRow]:
    return [row for row in flow.records(*ITEM_KINDS) if word in row.text]


@pytest.mark.parametrize("behind", [0, FAR])
async def test_what_something_changed_meanwhile_is_refused(behind: int) -> None:
    flow = await told("I live in Oslo.", "I live in Oslo.")
    pair = items(flow, "Oslo")
    await flow.say("I moved to Berlin.", "new", days=90)
    await flow.drain()
    assert flow.changed()
    await pass_by(flow, behind)
    await flow.consolidate(duplicate(*pair))
    assert stale(flow) == 1


@pytest.mark.parametrize(("behind", "between"), [(0, 0), (0, FAR), (FAR, 0), (FAR, FAR)])
async def test_what_a_merge_made_can_be_changed(behind: int, between: int) -> None:
    flow = await told("I live in Oslo.", "I live in Oslo.", behind=behind)
    pair = items(flow, "Oslo")
    (one,) = made(await flow.consolidate(duplicate(*pair)))
    await pass_by(flow, between)
    await flow.say("I moved to Berlin.", "new", days=90)
    await flow.drain()
    await pass_by(flow, FAR)
    assert [row.id for row in flow.changed()] == [one.id]
    flow.check()


@pytest.mark.parametrize("bare", [False, True])
async def test_what_was_said_before_the_night_and_judged_after_it_changes_what_the_night_made(
    monkeypatch: pytest.MonkeyPatch, *, bare: bool
) -> None:
    if bare:
        monkeypatch.setattr("stages.route.consolidating.FULL", 0)
    flow = await told("I live in Oslo.", "I live in Oslo.")
    pair = items(flow, "Oslo")
    await flow.say("I moved to Berlin.", "new", days=90)
    (one,) = made(await flow.consolidate(duplicate(*pair)))
    await flow.drain()
    await pass_by(flow, 2 * FAR)
    assert [row.id for row in flow.changed()] == [one.id]


@pytest.mark.parametrize("between", [0, FAR])
async def test_what_a_merge_made_can_be_corrected(between: int) -> None:
    flow = await told("I live in Oslo.", "I live in Oslo.")
    (one,) = made(await flow.consolidate(duplicate(*items(flow, "Oslo"))))
    await pass_by(flow, between)
    await flow.say("No, I said I live in Bergen with my old family.", "no")
    assert [row.id for row in flow.closed(CloseCause.CORRECTION)] == [one.id]
    flow.check()


@pytest.mark.parametrize("between", [0, FAR])
async def test_said_again_it_supports_what_a_merge_made(between: int) -> None:
    flow = await told("I live in Oslo.", "I live in Oslo.")
    (one,) = made(await flow.consolidate(duplicate(*items(flow, "Oslo"))))
    await pass_by(flow, between)
    position = flow.position
    await flow.say("I live in Oslo.", "again")
    await flow.drain()
    await pass_by(flow, FAR)
    supporting = {edge.source for edge in flow.edges(EdgeType.SUPPORTS) if edge.target == one.id}
    assert record_id(SPACE, position, "turn") in supporting


@pytest.mark.parametrize("between", [0, FAR])
async def test_undo_puts_back_what_a_merge_stood_for(between: int) -> None:
    flow = await told("I have two cats.", "I have two cats.")
    old = items(flow, "cats")
    (one,) = made(await flow.consolidate(duplicate(*old)))
    await pass_by(flow, between)
    rows = await flow.consolidate(undone(one, *old), run="undo-r1")
    back = made(rows)
    assert [(row.text, row.provenance, row.said_at) for row in back] == [
        (row.text, row.provenance, row.since) for row in old
    ]
    (closed,) = [row for row in rows if isinstance(row, ClosedRow)]
    assert (closed.id, closed.cause, closed.successor) == (one.id, CloseCause.UNDO, back[0].id)
    assert {row.id for row in items(flow, "cats")} == {row.id for row in back}
    await flow.consolidate(undone(one, *old), run="undo-r1")
    assert stale(flow) == 1
    flow.check()


async def test_the_order_of_the_vectors_is_that_of_the_records() -> None:
    flow = await told("I have two cats.", "I have two cats.", "My sister Elin lives in Bergen.")
    cats, sister = items(flow, "cats"), items(flow, "Elin")
    bad = duplicate(*cats).model_copy(update={"sources": (named(sister[0], "gone"), *duplicate(*cats).sources)})
    rows = await flow.consolidate(bad, topic("Elin", *sister), duplicate(*cats), persona("a sister", *sister))
    assert (stale(flow), len(made(rows))) == (1, 3)
    assert all(map(has_vector, made(rows)))
    for row in made(rows):
        assert [flow.memory.vectors[row.id]] == await flow.embedder.embed([row.text])


async def test_what_the_state_has_no_room_for_is_left_to_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stages.route.consolidating.ROOM", 250)
    flow = await told(*["I have two cats."] * 2, *["I own a red car."] * 2, *["I ride a bike."] * 2)
    decisions = [duplicate(*items(flow, word)) for word in ("cats", "car", "bike")]
    await flow.consolidate(*decisions)
    left = stale(flow)
    assert 0 < left < 3
    assert sum(map(len, flow.routing.made_parts().values())) <= 250
    await pass_by(flow, FAR)
    again = await flow.consolidate(*decisions[-left:])
    assert len(made(again)) > 0


async def test_no_more_is_remembered_of_a_night_than_memory_needs() -> None:
    flow = await told("I have two cats.", "I have two cats.")
    before = flow.routing.parts()
    assert not [name for name in before if name.startswith(("made", "owed"))]
    await flow.consolidate(duplicate(*items(flow, "cats")))
    assert [name for name in flow.routing.parts() if name.startswith("made")]
    assert RouteState.from_parts(flow.routing.parts()).made == flow.routing.made
    await pass_by(flow, FAR)
    assert not [name for name in flow.routing.parts() if name.startswith("made")]


def test_what_is_kept_says_which_turns_it_rests_on() -> None:
    marks = [making.turn_mark(f"turn {n}") for n in range(50)]
    one = making.Made(row=KeptItem(ordinal=0, flags=0, digest="", about=""), turns="".join(marks[:40]))
    assert [one.rests_on(mark) for mark in marks] == [True] * 40 + [False] * 10


def test_a_decision_that_would_not_shrink_memory_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="it must make fewer"):
        Decision(act=Act.MERGE, sources=(named(_row(), "a", retired=True),), records=(_row(),), reason="")


def _row() -> RecordRow:
    return RecordRow(
        space=SPACE,
        id="a",
        kind=RecordKind.FACT,
        text="a",
        owner=None,
        speaker=MIA,
        at=START,
        provenance=("t",),
        since=0,
    )
