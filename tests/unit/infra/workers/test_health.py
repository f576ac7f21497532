"""When a worker is unwell, and when it is only waiting."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.workers.health import OVER, Health
from infra.workers.sight import PartitionSight, Sight

BEHIND = PartitionSight(
    partition=3,
    next=10,
    expected=12,
    waiting=2,
    lag=5,
    oldest_s=None,
    ready=True,
    stopped=None,
    state_bytes=0,
    loaded=1,
)
SEEN = Sight(partitions=(BEHIND,), handled=10, held_bytes=0, admitting=0, unavailable=0, reasons=(), paused=False)


def after(seconds: float, *sights: Sight) -> Health:
    """Return the health after sights that lie so many seconds apart."""
    health = Health(still=60)
    for turn, seen in enumerate(sights):
        health.look(seen, 1000 + turn * seconds)
    return health


def test_work_without_progress_is_told_after_a_while_and_ends_the_process_much_later() -> None:
    assert after(59, SEEN, SEEN).reason is None
    unwell = after(60, SEEN, SEEN)
    assert unwell.reason is not None
    assert "5 events wait" in unwell.reason
    assert not unwell.is_over
    assert after(60 * OVER, SEEN, SEEN).is_over


def test_a_slow_model_that_answers_is_progress() -> None:
    assert after(50, *(replace(SEEN, asked=number) for number in range(20))).reason is None


@pytest.mark.parametrize(
    "seen",
    [
        replace(SEEN, paused=True),
        replace(SEEN, admitting=1),
        replace(SEEN, reasons=("route: no answer",), unavailable=1),
        replace(SEEN, partitions=(replace(BEHIND, lag=0),)),
        replace(SEEN, partitions=(replace(BEHIND, stopped="refused"),)),
    ],
    ids=["paused", "admission", "no answer", "nothing to do", "stopped"],
)
def test_what_waits_for_something_is_well(seen: Sight) -> None:
    health = after(10_000, seen, seen)
    assert (health.reason, health.is_over) == (None, False)


@pytest.mark.parametrize(
    "later",
    [
        replace(SEEN, handled=11),
        replace(SEEN, partitions=(replace(BEHIND, next=11),)),
        replace(SEEN, partitions=(replace(BEHIND, loaded=2),)),
    ],
    ids=["handled", "finished", "reading states"],
)
def test_any_progress_begins_the_wait_anew(later: Sight) -> None:
    assert after(59, SEEN, later, later).reason is None
    assert after(59, SEEN, SEEN, SEEN).reason is not None


def test_a_partition_whose_states_are_not_read_in_time_is_told() -> None:
    loading = replace(SEEN, partitions=(replace(BEHIND, ready=False, lag=None),))
    assert after(60, loading, loading).reason is not None


def test_who_lost_all_partitions_ends_and_who_never_had_one_waits() -> None:
    none = replace(SEEN, partitions=())
    lost = after(61, SEEN, none)
    assert (lost.reason, lost.is_over) == ("no partitions for 61 s, after it had some", True)
    spare = after(10_000, none, none)
    assert (spare.reason, spare.is_over) == (None, False)
