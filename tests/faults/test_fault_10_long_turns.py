"""Elsewhere: an over-long turn crashes or is dropped."""

from __future__ import annotations

from pathlib import Path

from schemas.memory import OutcomeState, RecordKind
from tests.faults.user import SPACE, chatter, cited, hits, lived, opened, records, rows, tell, turn

SENTENCES = [f"On day {n} we walked {n + 3} kilometres along the river and slept in a barn." for n in range(120)]
MIDDLE = "Behind the mill a heron named Gustav stole my sandwich."
LONG = " ".join([*SENTENCES[:60], MIDDLE, *SENTENCES[60:]])
UNBROKEN = "x" * 20_000 + "heron" + "y" * 20_000


async def test_fault_10_an_over_long_turn_is_kept_whole_in_pieces(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("short", "Hello."), turn("long", LONG), turn("after", "Good night."))
        assert {one.turn_id: one.state for one in memory.turns(SPACE)} == dict.fromkeys(
            ("short", "long", "after"), OutcomeState.COMMITTED
        )
        pieces = [row for row in records(memory, RecordKind.TURN) if row.provenance == ("long",)]
        pieces.sort(key=lambda row: row.piece)
        assert len(pieces) > 5
        assert [row.piece for row in pieces] == list(range(len(pieces)))
        assert " ".join(row.text for row in pieces) == LONG
        assert all(row.turn is None for row in pieces[1:])


async def test_fault_10_a_phrase_in_its_middle_finds_the_piece_that_says_it(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("long", LONG), *chatter(8))
        best = (await hits(memory, "What did the heron Gustav steal behind the mill?"))[0]
        assert best.turn_ids == ("long",)
        assert MIDDLE in best.text
        assert (await cited(memory, "What did the heron Gustav steal?")).count("long") == 1


async def test_fault_10_its_pieces_have_the_same_ids_wherever_it_is_told(home: Path, second: Path) -> None:
    told = await lived(home, turn("long", LONG), turn("odd", UNBROKEN))
    async with opened(second) as memory:
        await tell(memory, turn("long", LONG))
        await tell(memory, turn("odd", UNBROKEN), turn("long", LONG))
        assert rows(memory) == told
        assert memory.sums().duplicates == 1


async def test_fault_10_what_is_beyond_the_limit_is_a_letter_that_names_the_limit(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("huge", "word " * 250_000), turn("after", "I live in Oslo."))
        (letter,) = memory.letters(SPACE)
        assert (letter.turn_id, letter.stage) == ("huge", "normalize")
        assert "1000000" in letter.reason
        assert await cited(memory, "Where does Mia live?", k=1) == ["after"]
