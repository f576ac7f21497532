"""Elsewhere: the same memory added twice deletes it; the same event is stored twice; duplicates within one batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.memory import ChangedRow, ClosedRow, RecordKind
from stages.contract import WINDOW
from tests.faults.user import (
    BOT,
    SPACE,
    chatter,
    cited,
    cli,
    hits,
    items,
    jsonl,
    lived,
    opened,
    printed,
    records,
    retired,
    rows,
    tell,
    turn,
)

TALK = [
    turn("m1", "I live in Oslo. I love steak."),
    turn("a1", "Noted, the lamp is ordered.", BOT, reply_to="m1"),
    turn("m2", "My sister Elin lives in Bergen."),
]


async def test_fault_02_the_same_memory_added_twice_changes_nothing(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TALK)
        once = rows(memory)
        await tell(memory, *TALK)
        assert rows(memory) == once
        assert retired(memory) == []
        assert "m1" in await cited(memory, "Where does Mia live?")


async def test_fault_02_the_same_thing_said_again_keeps_what_was_said_first(home: Path) -> None:
    """Another turn with the same words is another turn; it supports the memory and takes nothing away."""
    async with opened(home) as memory:
        await tell(memory, turn("m1", "I love steak."), *chatter(25), turn("m2", "I love steak.", day=2))
        await tell(memory, *chatter(25, 50, day=3))
        assert retired(memory) == []
        assert {"m1", "m2"} <= set(await cited(memory, "Does Mia love steak?"))


async def test_fault_02_a_change_of_preference_supersedes_and_deletes_nothing(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("old", "I love steak."), *chatter(22), turn("new", "I'm a vegetarian now.", day=2))
        as_it_was = records(memory)
        await tell(memory, *chatter(22, 40, day=3))
        assert retired(memory) == [("Mia loves steak.", "Mia is a vegetarian now.")]
        assert not [row for row in memory.rows(SPACE) if isinstance(row, ClosedRow)]
        assert [row for row in records(memory) if row.since < 24] == [row for row in as_it_was if row.since < 24]
        found = await hits(memory, "Does Mia love steak or is she a vegetarian?")
        assert [hit.turn_ids for hit in found[:2]] == [("new",), ("old",)]
        assert "[changed" in found[1].text
        before = await hits(memory, "Does Mia love steak or is she a vegetarian?", as_of=10)
        assert [hit.turn_ids[0] for hit in before if "steak" in hit.text] == ["old"]
        assert "[changed" not in before[0].text


def test_fault_17_a_file_ingested_twice_is_counted_and_stored_once(home: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "chat.jsonl", TALK)
    first = cli(home, "ingest", path, "--format", "jsonl")
    once = printed(home, "records", "--space", SPACE)
    again = cli(home, "ingest", path, "--format", "jsonl")
    assert first.stdout.splitlines()[-1] == "published=3 committed=3 lettered=0 duplicates=0 forgotten=0 pending=0"
    assert again.stdout.splitlines()[-1] == "published=3 committed=0 lettered=0 duplicates=3 forgotten=0 pending=0"
    assert again.exit_code == 0
    assert printed(home, "records", "--space", SPACE) == once


async def test_fault_17_a_duplicate_takes_no_position_and_ids_rest_on_positions(home: Path, second: Path) -> None:
    """However often a bot or a broker delivers: the rows are those of a home that heard everything once."""
    once = await lived(home, *TALK)
    async with opened(second) as memory:
        await memory.publish(SPACE, [TALK[0], TALK[0]])
        await memory.publish(SPACE, [TALK[0], TALK[1], TALK[0]])
        await memory.run()
    async with opened(second) as memory:
        await tell(memory, TALK[1], TALK[2], TALK[0])
        assert rows(memory) == once
        assert [turn.position for turn in memory.turns(SPACE)] == [0, 1, 2]
        assert str(memory.sums()) == "published=8 committed=3 lettered=0 duplicates=5 forgotten=0 pending=0"


async def test_fault_17_a_duplicate_is_known_however_old_the_first_is(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, TALK[0], *chatter(WINDOW + 4))
        before = rows(memory)
        await tell(memory, TALK[0])
        assert rows(memory) == before
        assert memory.sums().duplicates == 1


@pytest.mark.parametrize("text", ["I live in  Oslo.  I love steak.\r\n", "I live in Oslo. I love steak.\x00"])
async def test_fault_17_a_redelivery_that_differs_in_nothing_to_read_is_a_duplicate(home: Path, text: str) -> None:
    async with opened(home) as memory:
        await tell(memory, TALK[0], json.dumps(json.loads(TALK[0]) | {"text": text}).encode())
        assert str(memory.sums()) == "published=2 committed=1 lettered=0 duplicates=1 forgotten=0 pending=0"


async def test_fault_17_the_same_id_with_another_text_is_a_letter_and_not_a_silent_choice(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, TALK[0], turn("m1", "I live in Rome."))
        (letter,) = memory.letters(SPACE)
        assert "revision" in letter.reason
        assert {item.text for item in items(memory)} == {"Mia lives in Oslo.", "Mia loves steak."}


async def test_fault_21_duplicates_within_one_batch_are_one_turn(home: Path, second: Path) -> None:
    once = await lived(home, *TALK)
    async with opened(second) as memory:
        await tell(memory, *(payload for payload in TALK for _ in range(4)))
        assert rows(memory) == once
        assert (memory.sums().committed, memory.sums().duplicates) == (3, 9)


async def test_fault_21_one_statement_made_twice_in_a_turn_is_one_item(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "I live in Oslo. I live in Oslo. I live in Oslo."))
        assert [item.text for item in items(memory)] == ["Mia lives in Oslo."]
        assert len(records(memory, RecordKind.TURN)) == 1
        assert not [row for row in memory.rows(SPACE) if isinstance(row, ChangedRow)]
