"""Invariant 3: the engine numbers the events of a space 0, 1, 2 …; repeats emit nothing, holes are filled or refused.

The checks read the inputs of all stages through a consumer as clumsy as a real one: it brings records again, leaves
some out, or brings another event where one was seen. The stages are the simplest honest ones, as the rules are those of
the engine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.memory import OutcomeRow
from schemas.space import Space
from streams import engine as engines
from streams.effects import Inbound
from streams.embedded import _Ports
from streams.engine import Engine
from streams.lane import Lane
from streams.order import Order
from streams.preparing import Preparing
from streams.state import StateHeader
from streams.stopped import BrokenOrder
from tests.fakes.mutations import Install, Mutation, each
from tests.fakes.real_home import SPACE, STAGES, RealHome, mixed, story
from tests.fakes.runtime import topology

LOG = [*mixed(), *story(12, first=20)]
ENDED = [
    *[(f"t{n}", "committed") for n in range(6)],
    ("blank", "lettered"),
    ("odd", "lettered"),
    *[(f"t{n}", "committed") for n in [*range(6, 12), *range(20, 32)]],
]
"""What becomes of the events that take a position, in order; repeats, foreign events and what is none take none."""


def plain(folder: Path) -> RealHome:
    return RealHome(folder, wire=lambda _embedder, _index: topology())


Consumer = Install


def reading(clumsily: Callable[[list[Inbound], list[Inbound]], list[Inbound]]) -> Consumer:
    """Give each stage ``clumsily(all, wanted)`` where it asks for records: all that it ever had, and those now due."""
    read = _Ports.read

    async def from_log(ports: _Ports, space: Space, after: int, limit: int) -> list[Inbound]:
        wanted = await read(ports, space, after, limit)
        return clumsily(await read(ports, space, -1, 10_000), wanted) if wanted else []

    return lambda patch: patch.setattr(_Ports, "read", from_log)


def again(everything: list[Inbound], wanted: list[Inbound]) -> list[Inbound]:
    """Bring the last six records before those due once more, and each of those due twice."""
    before = [record for record in everything if record.offset < wanted[0].offset]
    return [*before[-6:], *(twice for record in wanted[:5] for twice in (record, record)), *wanted[5:]]


def with_gaps(everything: list[Inbound], wanted: list[Inbound]) -> list[Inbound]:
    """Leave out some of the records due, as a consumer does that drops what it fetched and reads on behind it.

    What is asked for again comes whole; so does the log, whose events have no number yet to be missed by.
    """
    if wanted[0].header is None or len(wanted) < 5:
        return wanted
    return [*wanted[:1], *wanted[4:]]


async def check(home: RealHome, consumer: Consumer) -> None:
    """Every event has its one position, on every topic, and its one place in the sum."""
    with pytest.MonkeyPatch.context() as patch:
        consumer(patch)
        await home.tell(LOG, pace=12)
    with home.journal() as journal:
        rows = [row for row in journal.rows(SPACE, "outcome ") if isinstance(row, OutcomeRow)]
        for topic in ("normalized", "localized", "extracted", "routed"):
            numbers = [r.header.position for r in journal.read_records(f"turns.{topic}", SPACE, 0, 10_000) if r.header]
            assert numbers == list(range(len(ENDED))), f"turns.{topic} has not each position once"
        heads = {stage: journal.header(stage, SPACE) for stage in STAGES}
    assert [row.position for row in rows] == list(range(len(rows))), "positions have holes"
    assert [(row.event_id, row.state) for row in rows] == ENDED, "events do not have the positions they should"
    sums = "published=32 committed=24 lettered=4 duplicates=4 forgotten=0 pending=0"
    assert str(home.sums()) == sums, "the sum is wrong"
    for stage, head in heads.items():
        counted = (head.position, head.counts.emitted + head.counts.lettered)
        assert counted == (len(ENDED) - 1, len(ENDED)), f"{stage} did not count each event once"


def rewritten(everything: list[Inbound], wanted: list[Inbound]) -> list[Inbound]:
    """Bring another event in the place of the last one before those due."""
    before = [record for record in everything if record.header and record.offset < wanted[0].offset]
    others = [replace(one, header=one.header and one.header.model_copy(update={"event_id": "x"})) for one in before]
    return [*others[-1:], *wanted]


def losing(_everything: list[Inbound], wanted: list[Inbound]) -> list[Inbound]:
    """Have one record no more, however often it is asked for."""
    return [record for record in wanted if record.header is None or record.header.position != 5]


async def check_stop(home: RealHome, consumer: Consumer) -> None:
    """The stage stops, and says the way out: going on would make another memory."""
    with pytest.MonkeyPatch.context() as patch:
        consumer(patch)
        said = await _stop(home)
    assert said is not None, "it went on over broken order"
    assert "replay" in said, "the way out is not said"


async def _stop(home: RealHome) -> str | None:
    try:
        await home.tell(LOG, pace=12)
    except BrokenOrder as stop:
        return str(stop)
    return None


@pytest.mark.parametrize("clumsily", [lambda _all, due: due, again, with_gaps], ids=["in order", "repeats", "gaps"])
async def test_positions_hold(tmp_path: Path, clumsily: Any) -> None:
    await check(plain(tmp_path), reading(clumsily))


@pytest.mark.parametrize("clumsily", [rewritten, losing])
async def test_an_input_that_contradicts_itself_stops_the_stage(tmp_path: Path, clumsily: Any) -> None:
    await check_stop(plain(tmp_path), reading(clumsily))


def numbered_again(patch: pytest.MonkeyPatch) -> None:
    enter = Engine._enter

    async def entered(engine: Engine[Any, Any, Any], lane: Lane[Any], record: Inbound) -> None:
        known, lane.header = lane.header, lane.header.model_copy(update={"offset": -1})
        await enter(engine, lane, record)
        lane.header = lane.header.model_copy(update={"offset": max(known.offset, lane.header.offset)})

    patch.setattr(Engine, "_enter", entered)


def decided_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(engines, "is_repeat", lambda _header, _seen: False)


def left_out(patch: pytest.MonkeyPatch) -> None:
    numbered = Preparing.numbered

    def with_hole(preparing: Any, space: Space, record: Inbound, position: int) -> Any:
        return numbered(preparing, space, record, position + 1 if position == 7 else position)

    patch.setattr(Preparing, "numbered", with_hole)


def counted(patch: pytest.MonkeyPatch) -> None:
    drop = Lane.drop

    def dropped(lane: Lane[Any], record: Inbound) -> None:
        drop(lane, record)
        lane.header = lane.header.seen(lane.header.position + 1, record.offset, "repeat", lane.header.counts)

    patch.setattr(Lane, "drop", dropped)


async def _passed_over(*_: object) -> AsyncGenerator[Inbound, None]:
    return
    yield


def passed_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Order, "missing", _passed_over)


@each(
    Mutation("a repeat of the log is numbered again", numbered_again, "has not each position once"),
    Mutation("a repeat is emitted again by a later stage", decided_again, "the sum is wrong"),
    Mutation("a position is skipped", left_out, "misses position", BrokenOrder),
    Mutation("a duplicate takes a position", counted, "misses position", BrokenOrder),
)
async def test_another_numbering_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(plain(tmp_path), reading(again))


@each(Mutation("a hole is passed over", passed_over, "turns.localized has not each position once"))
async def test_an_unfilled_hole_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check(plain(tmp_path), reading(with_gaps))


def unlike(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StateHeader, "id_at", lambda *_: None)


@each(Mutation("another event at a known position is a repeat", unlike, "it went on over broken order"))
async def test_a_rewritten_input_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check_stop(plain(tmp_path), reading(rewritten))


@each(Mutation("a record that is gone is passed over", passed_over, "it went on over broken order"))
async def test_a_lost_record_is_caught(tmp_path: Path, mutation: Mutation) -> None:
    with mutation.put_in():
        await check_stop(plain(tmp_path), reading(losing))
