"""Working memory: who leaves it, when, and in what order."""

from __future__ import annotations

from schemas.memory import ITEM_KINDS, LeftRow
from schemas.turn import Speaker
from stages.route.working import PARTICIPANTS
from tests.fakes.embedder import DigestEmbedder
from tests.fakes.flow import BEN, MIA, Flow


async def test_the_oldest_five_of_twenty_leave_together() -> None:
    flow = Flow(embedder=DigestEmbedder())
    left = [
        [row.id for row in await flow.say(f"I own a red car number {n}.") if isinstance(row, LeftRow)]
        for n in range(40)
    ]
    assert [n for n, rows in enumerate(left) if rows] == [19, 24, 29, 34, 39]
    items = [row.id for row in flow.records(*ITEM_KINDS)]
    assert [name for rows in left for name in rows] == items[:25]
    flow.check()


async def test_the_silent_and_the_least_recent_are_drained() -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("I own a red car.", speaker=BEN)
    for n in range(66):
        await flow.say(f"Number {n} passes by.")
    ben = flow.records(*ITEM_KINDS)[0].id
    assert [row.position for row in flow.rows if isinstance(row, LeftRow) and row.id == ben] == [65]
    for n in range(PARTICIPANTS + 8):
        await flow.say(f"I own the house number {n}.", speaker=Speaker(id=f"v-{n}"))
    assert len(flow.routing.working.queues) == PARTICIPANTS
    flow.check()


async def test_drain_of_one_participant_leaves_the_others() -> None:
    flow = Flow(embedder=DigestEmbedder())
    await flow.say("I own a red car.")
    await flow.say("I own a blue car.", speaker=BEN)
    await flow.drain(BEN.id)
    assert [queue.participant for queue in flow.routing.working.queues] == [MIA.id]
    assert len([row for row in flow.rows if isinstance(row, LeftRow)]) == 1
