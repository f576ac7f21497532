from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from schemas.interval import Grain, Interval, TimeMention
from schemas.localized import Placement, Rule
from schemas.memory import RecordKind, RecordRow, TurnDetail
from schemas.normalized import Attitude, Understanding
from schemas.space import Space
from schemas.span import Span
from stages.recall.fit import FULL, HINT, Sought, fit

ASKED_AT = datetime(2026, 6, 10, 12, tzinfo=UTC)


def interval(first: str, last: str, grain: Grain = Grain.MONTH, *, vague: bool = False) -> Interval:
    return Interval(start=_at(first), end=_at(last), grain=grain, vague=vague)


def _at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def record(at: str, own: Interval | None = None, times: Sequence[Interval] = ()) -> RecordRow:
    mentions = tuple(TimeMention(phrase="then", span=Span(start=0, end=4), interval=one) for one in times)
    detail = TurnDetail(
        turn_id="t",
        revision=0,
        reply_to=None,
        z=Understanding(summary="s", topic="t", attitude=Attitude.NONE),
        times=mentions,
        mentions=(),
        placement=Placement(rule=Rule.NEW_ROOT, branch=0, interaction=0),
    )
    return RecordRow(
        space=Space("a/b"),
        id="r",
        kind=RecordKind.TURN,
        text="then",
        owner=None,
        speaker=None,
        at=_at(at),
        interval=own,
        provenance=("t",),
        since=0,
        turn=detail,
    )


MAY = interval("2026-05-01", "2026-06-01")


@pytest.mark.parametrize(
    ("asked", "records", "gain"),
    [
        ([MAY], [record("2026-05-31")], FULL),
        ([MAY], [record("2026-06-01")], 0),
        ([MAY], [record("2026-06-01", own=interval("2026-05-30", "2026-06-03"))], FULL),
        ([MAY], [record("2026-06-01", own=interval("2026-06-01", "2026-06-03"))], 0),
        ([MAY], [record("2026-06-01", times=[interval("2025-01-01", "2026-05-02", Grain.YEAR)])], FULL),
        ([MAY], [record("2026-06-01"), record("2026-05-01")], FULL),
        ([interval("2026-05-01", "2026-06-10", vague=True)], [record("2026-05-31")], HINT),
        ([interval("2026-05-01", "2026-06-10", vague=True), MAY], [record("2026-05-31")], FULL),
        ([interval("2026-06-10", "2026-06-11", Grain.DAY)], [record("2026-06-10")], HINT),
        ([interval("2026-06-09", "2026-06-10", Grain.DAY)], [record("2026-06-09")], FULL),
        ([interval("2026-01-01", "2027-01-01", Grain.YEAR)], [record("2026-06-09")], FULL),
        ([], [record("2026-06-10")], 0),
        ([MAY], [], 0),
    ],
)
def test_what_a_turn_gains_by_its_time(asked: Sequence[Interval], records: Sequence[RecordRow], gain: int) -> None:
    assert fit([Sought.of(one, ASKED_AT) for one in asked], records) == gain


@pytest.mark.parametrize(
    ("end", "gain"),
    [("2026-05-02", FULL), ("2026-05-01", 0), ("2026-04-20", 0), ("2026-01-01", 0), ("2026-12-01", FULL)],
)
def test_the_time_of_a_changed_record_ends_at_its_successors_start(end: str, gain: int) -> None:
    spring = record("2026-04-01", own=interval("2026-04-01", "2026-07-01"))
    assert fit([Sought.of(MAY, ASKED_AT)], [spring], {"r": _at(end)}) == gain
