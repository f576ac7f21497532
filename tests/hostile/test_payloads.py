"""Every hostile payload has its stated outcome, and the space goes on: an ordinary turn goes in and is recalled."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from infra.bootstrap import open_memory
from infra.memory_api import Memory
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from schemas.space import Space
from tests.fakes.folders import quick_folder
from tests.hostile.case import ALONE, COMMITTED, DUPLICATE, LETTERED, SPACE, Case, turn
from tests.hostile.payloads import IDS, JSON, ORDER, TEXTS, TYPES
from tests.hostile.times import TIMES

CASES = (*TEXTS, *TYPES, *JSON, *IDS, *TIMES, *ORDER)
ORDINARY = turn("ordinary", "My sister keeps bees on the roof of the lighthouse.")


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_outcome(case: Case) -> None:
    with quick_folder() as folder:
        async with open_memory(Settings(home=folder), embedder=HashEmbedder()) as memory:
            await memory.publish(Space(SPACE), case.events)
            await memory.run()
            counted(memory, case)
            lettered(memory, case)
            if case.text is not None:
                assert newest_text(memory) == case.text
        async with open_memory(Settings(home=folder), embedder=HashEmbedder()) as memory:
            await goes_on(memory)


def counted(memory: Memory, case: Case) -> None:
    """The sums say what became of each event, and nothing waits."""
    wanted, sums = Counter(case.outcomes), memory.sums()
    assert (sums.published, sums.pending) == (len(case.events), 0)
    assert sums.committed == wanted[COMMITTED]
    assert sums.lettered == wanted[LETTERED] + wanted[ALONE]
    assert sums.duplicates == wanted[DUPLICATE]


def lettered(memory: Memory, case: Case) -> None:
    """A letter has its reason and the bytes that came; only what can be believed has a place in the order."""
    letters = list(memory.letters())
    refused = [pair for pair in zip(case.events, case.outcomes, strict=True) if pair[1] in {LETTERED, ALONE}]
    assert [letter.original for letter in letters] == [event for event, _ in refused]
    for letter, (_, outcome) in zip(letters, refused, strict=True):
        assert (letter.position is None) == (outcome is ALONE)
        assert [word for word in case.says if word not in letter.reason] == []
        assert letter.input_fault
        assert len(letter.reason) < 1000


def newest_text(memory: Memory) -> str:
    """Return what the newest turn reads like; the pieces of a long one are put together."""
    rows = [row for row in memory.rows(Space(SPACE)) if isinstance(row, RecordRow) and row.kind is RecordKind.TURN]
    by_position = groupby(sorted(rows, key=lambda row: (row.since, row.piece)), key=lambda row: row.since)
    return ["".join(row.text for row in pieces) for _, pieces in by_position][-1]


async def goes_on(memory: Memory) -> None:
    """An ordinary turn in the same space is committed and found."""
    committed = memory.sums().committed
    await memory.publish(Space(SPACE), [ORDINARY])
    await memory.run()
    assert (memory.sums().committed, memory.sums().pending) == (committed + 1, 0)
    found = await memory.recall(Space(SPACE), Question(question="Who keeps bees?"), after="ordinary")
    assert not found.stale
    assert found.hits[0].turn_ids == ("ordinary",)


def test_names_are_distinct() -> None:
    assert [name for name, times in Counter(map(str, CASES)).items() if times > 1] == []
