"""Elsewhere: nearly half of all facts are invalidated, mostly wrongly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from schemas.memory import ChangedRow, ClosedRow, EdgeRow, EdgeType
from schemas.turn import Speaker
from stages.contract import WINDOW
from tests.faults.user import SPACE, chatter, items, opened, retired, tell, turn

MOST = 8
"""Records that one event may retire."""

BEN = Speaker(id="ben", name="Ben")

LIFE = (
    "I live in Oslo.",
    "My sister Elin lives in Bergen.",
    "My brother Tom works as a baker.",
    "I work as a nurse.",
    "I love jazz.",
    "I love sushi.",
    "I can't stand loud music.",
    "I went to Rome in May 2019.",
    "I went to Rome in June 2023.",
    "I bought a blue bicycle.",
    "I sold my old car.",
    "I have two cats.",
    "I want to learn Japanese.",
    "I ran ten kilometres yesterday.",
    "I visited Elin last weekend.",
    "I never eat mushrooms.",
    "My favourite colour is green.",
    "My favourite book is Dune.",
    "I was ill in January.",
    "I am reading a book about bees.",
    "We painted the kitchen yellow.",
    "The kitchen window is broken.",
    "I moved the desk to the window.",
    "I don't drink coffee in the evening.",
)

DIFFERENT = [
    ("two people", "I live in Oslo.", "My sister Elin moved to Bergen."),
    ("two likings", "I love jazz.", "I hate techno."),
    ("two kinds of food", "I love Thai food.", "I hate Italian food."),
    ("two visits", "I went to Rome in May 2019.", "I went to Rome in June 2023."),
    ("two kinds of favourite", "My favourite colour is green.", "My favourite book is Dune."),
    ("a wish is no move", "I live in Oslo.", "I would love to live in Berlin one day."),
    ("a question is no statement", "I live in Oslo.", "Do I live in Berlin now?"),
]

SAME = [
    ("home", "I live in Oslo.", "I moved to Berlin."),
    ("work", "I work as a nurse.", "I now work as a teacher."),
    ("favourite", "My favourite colour is blue.", "My favourite colour is green now."),
    ("liking", "I love jazz.", "I can't stand jazz."),
]


async def test_fault_18_a_life_told_without_contradiction_loses_nothing(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *(turn(f"m{n}", text, day=n / 10) for n, text in enumerate(LIFE)), *chatter(21, day=9))
        assert retired(memory) == []
        assert len({item.provenance[0] for item in items(memory)} & {f"m{n}" for n in range(len(LIFE))}) > 20


@pytest.mark.parametrize(("what", "old", "new"), DIFFERENT, ids=[what for what, _, _ in DIFFERENT])
async def test_fault_18_what_is_about_something_else_is_not_retired(home: Path, what: str, old: str, new: str) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("old", old), turn("new", new, day=30), *chatter(20, day=31))
        assert retired(memory) == [], what


async def test_fault_18_what_another_person_says_of_themselves_retires_nothing_of_mine(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "I live in Oslo."), turn("b1", "I moved to Berlin.", BEN, day=1))
        await tell(
            memory, *chatter(20, day=2), *(turn(f"b{n}", f"Bus {n} was late.", BEN, day=3) for n in range(2, 22))
        )
        assert retired(memory) == []


@pytest.mark.parametrize(("what", "old", "new"), SAME, ids=[what for what, _, _ in SAME])
async def test_fault_18_what_is_retired_has_the_same_key_and_a_reason_and_a_successor(
    home: Path, what: str, old: str, new: str
) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("old", old), turn("new", new, day=30), *chatter(20, day=31))
        (mark,) = [row for row in memory.rows(SPACE) if isinstance(row, (ChangedRow, ClosedRow))]
        known = {item.id: item for item in items(memory)}
        assert mark.successor is not None
        assert known[mark.id].key == known[mark.successor].key, what
        assert (known[mark.id].provenance, known[mark.successor].provenance) == (("old",), ("new",))
        assert mark.reason
        edges = [row for row in memory.rows(SPACE) if isinstance(row, EdgeRow) and row.type is EdgeType.SUPERSEDES]
        assert [(edge.source, edge.target) for edge in edges] == [(mark.successor, mark.id)]


async def test_fault_18_one_event_retires_a_bounded_number_of_memories(home: Path) -> None:
    """Whatever is said at once, most of what is known outlives it."""
    things = (
        "jazz",
        "sushi",
        "rowing",
        "chess",
        "opera",
        "hiking",
        "pottery",
        "cinnamon",
        "tennis",
        "tea",
        "snow",
        "gin",
    )
    loved = [turn(f"m{n}", f"I love {thing}.") for n, thing in enumerate(things)]
    hated = turn("rant", " ".join(f"I can't stand {thing}." for thing in things), day=30)
    async with opened(home) as memory:
        await tell(memory, *loved, hated, *chatter(WINDOW + 2, day=31))
        at_once = Counter(row.position for row in memory.rows(SPACE) if isinstance(row, ChangedRow))
        assert max(at_once.values()) == MOST
