"""Decisions as control events: small parts, and ids that say what they are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from infra.nights.events import PART, PART_BYTES, decided, parts, run_id, undo_id
from schemas.consolidation import Act, Decision, Named
from schemas.control import Control
from schemas.memory import RecordContent, RecordKind
from schemas.space import Space
from streams.codec import codec
from tests.fakes.night_runs import NIGHT

SPACE = Space("acme/mia")
CONTROL = codec(Control)
REACHED = {SPACE: 7, Space("acme/ben"): 3, Space("zoo/al"): 9}


def merged(number: int, text: str = "Mia has a cat.") -> Decision:
    sources = tuple(Named(id=f"{number}-{n}", text_hash="h", retired=True) for n in range(2))
    record = RecordContent(
        kind=RecordKind.FACT, text=text, owner=None, speaker=None, at=NIGHT, provenance=("t0",), occurrences=2
    )
    return Decision(act=Act.DUPLICATE, sources=sources, records=(record,), reason="the same words")


@pytest.mark.parametrize(
    ("count", "text", "sizes"),
    [
        (0, "short", []),
        (1, "short", [1]),
        (2 * PART + 1, "short", [PART, PART, 1]),
        (3, "x" * (PART_BYTES // 2), [1, 1, 1]),
        (2, "x" * (2 * PART_BYTES), [1, 1]),
        (4, "x" * (PART_BYTES // 3), [2, 2]),
    ],
)
def test_parts_are_small_and_leave_nothing_out(count: int, text: str, sizes: list[int]) -> None:
    decisions = [merged(number, text) for number in range(count)]
    cut = list(parts(decisions))
    assert [len(part) for part in cut] == sizes
    assert [one for part in cut for one in part] == decisions


def test_a_runs_name_is_its_day_and_what_it_rests_on() -> None:
    name = run_id(NIGHT, "acme", REACHED)
    assert name.startswith("2026-04-01-")
    assert run_id(datetime(2026, 4, 1, 23, tzinfo=UTC), "acme", REACHED) == name
    assert run_id(NIGHT, "acme", REACHED | {Space("zoo/al"): 10}) == name  # another tenant's
    assert run_id(NIGHT, "acme", REACHED | {SPACE: 8}) != name
    assert run_id(NIGHT, "zoo", REACHED) != name
    assert undo_id(name, "acme", REACHED).startswith(f"undo-{name}-")


def test_the_same_decisions_are_the_same_event_and_others_are_another() -> None:
    first = [name for name, _ in decided(SPACE, "r", "merges", [merged(1)], NIGHT)]
    assert [name for name, _ in decided(SPACE, "r", "merges", [merged(1)], NIGHT)] == first
    for others in (
        decided(SPACE, "r", "merges", [merged(2)], NIGHT),
        decided(SPACE, "r", "themes", [merged(1)], NIGHT),
        decided(SPACE, "s", "merges", [merged(1)], NIGHT),
    ):
        assert [name for name, _ in others] != first


def test_an_event_names_its_run_and_counts_its_parts() -> None:
    decisions = [merged(number) for number in range(PART + 1)]
    events = [CONTROL.decode(body) for _, body in decided(SPACE, "undo-r", "undo", decisions, NIGHT, "r")]
    assert [(one.body.run, one.body.part, one.body.undoes) for one in events] == [
        ("undo-r", 0, "r"),
        ("undo-r", 1, "r"),
    ]
    assert [one.event_id.split(":")[:4] for one in events] == [
        ["consolidate", "undo-r", "undo", "0"],
        ["consolidate", "undo-r", "undo", "1"],
    ]
