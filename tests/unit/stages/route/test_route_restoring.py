"""A revised turn closes what consolidation made of its former text, and brings back what else that stood for."""

from __future__ import annotations

import pytest

from schemas.memory import ITEM_KINDS, CloseCause, EdgeType, RecordKind, RecordRow
from tests.fakes.flow import Flow
from tests.fakes.nights import duplicate, persona, standing, topic
from tests.unit.stages.route.test_route_consolidating import FAR, items, made, pass_by, stale, told

CATS = "I have two cats."
AGES = [(0, 0), (FAR, 0), (0, FAR), (FAR, FAR)]
"""How many events pass between the turns and the night, and between the night and the revision."""


def shown(flow: Flow, word: str = "cats") -> list[tuple[str, ...]]:
    return sorted(row.provenance for row in items(flow, word))


def open_of(flow: Flow, *kinds: RecordKind) -> list[RecordRow]:
    return standing(flow.rows, *kinds)


@pytest.mark.parametrize(("before", "after"), AGES)
async def test_what_a_merge_had_absorbed_comes_back(before: int, after: int) -> None:
    flow = await told(CATS, CATS, CATS, behind=before)
    old = items(flow, "cats")
    (one,) = made(await flow.consolidate(duplicate(*old)))
    await pass_by(flow, after)
    await flow.say("I have a horse.", "t0", revision=1)
    (closed,) = [row for row in flow.closed(CloseCause.REVISION) if row.id == one.id]
    if before or after:
        assert shown(flow) == [("t1",), ("t2",)]
        assert closed.successor in {row.id for row in items(flow, "cats")}
    await pass_by(flow, FAR)
    assert shown(flow) == [("t1",), ("t2",)]
    back = sorted(items(flow, "cats"), key=lambda row: row.provenance)
    assert {row.id for row in back}.isdisjoint(row.id for row in old)
    assert [(row.text, row.key, row.said_at) for row in back] == [(row.text, row.key, row.since) for row in old[1:]]
    assert all(flow.memory.vectors[row.id] == flow.memory.vectors[old[1].id] for row in back)
    assert {e.target for e in flow.edges(EdgeType.SUPPORTS)} >= {row.id for row in back}
    assert {row.row for row in flow.rows if getattr(row, "id", "") == back[0].id} == {"record", "left"}
    flow.check()


@pytest.mark.parametrize(("before", "after"), AGES)
async def test_what_the_revision_says_too_stays(before: int, after: int) -> None:
    flow = await told(CATS, CATS, behind=before)
    (one,) = made(await flow.consolidate(duplicate(*items(flow, "cats"))))
    await pass_by(flow, after)
    await flow.say(f"{CATS} I have a horse.", "t0", revision=1)
    await pass_by(flow, FAR)
    assert [row.id for row in items(flow, "cats")] == [one.id]
    await flow.say("I have a horse.", "t0", revision=2)
    await pass_by(flow, FAR)
    assert shown(flow) == [("t1",)]
    flow.check()


@pytest.mark.parametrize(("before", "after"), AGES)
async def test_topics_and_personas_are_closed_until_the_next_night(before: int, after: int) -> None:
    flow = await told(CATS, "My sister Elin lives in Bergen.", behind=before)
    cats, sister = items(flow, "cats"), items(flow, "Elin")
    rows = await flow.consolidate(topic("pets", *cats), persona("kind", *cats, *sister), topic("Elin", *sister))
    pets, kind, elin = made(rows)
    await pass_by(flow, after)
    await flow.say("I have a horse.", "t0", revision=1)
    closed = {row.id for row in flow.closed(CloseCause.REVISION)}
    assert {pets.id, kind.id} <= closed
    assert elin.id not in closed
    assert kind.id not in {row.id for row in open_of(flow, RecordKind.PERSONA)}
    flow.check()


@pytest.mark.parametrize(("before", "after"), AGES)
async def test_what_a_merge_of_a_merge_had_absorbed_comes_back_too(before: int, after: int) -> None:
    flow = await told(CATS, CATS, CATS, behind=before)
    a, b, c = items(flow, "cats")
    (first,) = made(await flow.consolidate(duplicate(a, b)))
    (second,) = made(await flow.consolidate(duplicate(first, c), run="r2"))
    assert second.stands_for == (first.id, c.id)
    await pass_by(flow, after)
    await flow.say("I have a horse.", "t1", revision=1)
    await pass_by(flow, FAR)
    assert shown(flow) == [("t0",), ("t2",)]
    flow.check()


@pytest.mark.parametrize(("before", "after"), AGES)
async def test_a_merge_that_does_not_rest_on_the_turn_comes_back_whole(before: int, after: int) -> None:
    flow = await told(CATS, CATS, CATS, behind=before)
    a, b, c = items(flow, "cats")
    (first,) = made(await flow.consolidate(duplicate(a, b)))
    await flow.consolidate(duplicate(first, c), run="r2")
    await pass_by(flow, after)
    await flow.say("I have a horse.", "t2", revision=1)
    await pass_by(flow, FAR)
    (back,) = items(flow, "cats")
    assert (back.provenance, back.run, back.stands_for) == (("t0", "t1"), "r1", (a.id, b.id))
    await flow.say("I have a horse, too.", "t0", revision=1)
    await pass_by(flow, FAR)
    assert shown(flow) == [("t1",)]
    flow.check()


@pytest.mark.parametrize("between", [0, 3])
async def test_what_is_owed_does_not_come_back_once_its_turn_is_revised_too(between: int) -> None:
    flow = await told(CATS, CATS, CATS)
    await flow.consolidate(duplicate(*items(flow, "cats")))
    await flow.say("I have a horse.", "t0", revision=1)
    await pass_by(flow, between)
    await flow.say("I have a goat.", "t1", revision=1)
    assert sum(1 for _ in flow.routing.owed) == 1
    await pass_by(flow, FAR)
    assert shown(flow) == [("t2",)]
    assert not flow.routing.owed
    flow.check()


async def test_what_there_is_no_room_for_comes_back_later(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = await told(*[CATS] * 6, behind=FAR)
    await flow.consolidate(duplicate(*items(flow, "cats")))
    await pass_by(flow, FAR)
    monkeypatch.setattr("stages.route.restoring.ROOM", 150)
    await flow.say("I have a horse.", "t0", revision=1)
    assert 0 < len(shown(flow)) < 5
    last = max({f"t{n}" for n in range(1, 6)} - {name for (name,) in shown(flow)})
    await flow.say("I have a goat.", last, revision=1)
    await pass_by(flow, 5 * FAR)
    assert shown(flow) == [(f"t{n}",) for n in range(1, 6) if f"t{n}" != last]
    flow.check()


@pytest.mark.parametrize("after", [0, FAR])
async def test_what_came_back_can_be_merged_again(after: int) -> None:
    flow = await told(CATS, CATS, CATS, behind=FAR)
    await flow.consolidate(duplicate(*items(flow, "cats")))
    await flow.say("I have a horse.", "t0", revision=1)
    await pass_by(flow, after)
    back = items(flow, "cats")
    (one,) = made(await flow.consolidate(duplicate(*back), run="r2"))
    assert (stale(flow), one.provenance, one.said_at) == (0, ("t1", "t2"), 1)
    assert open_of(flow, *ITEM_KINDS)
    flow.check()
