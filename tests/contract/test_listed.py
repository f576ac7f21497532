"""What an agent lists, through the embedded home: its n-th member, after an edit, a revision, and as it was."""

from __future__ import annotations

from pathlib import Path

from infra.memory_api import Memory
from schemas.memory import RecordKind
from schemas.recall import ContextInput, Part
from tests.faults.user import BOT, SPACE, chatter, hits, opened, records, retired, rows, tell, turn

CITIES = "Here are cities to see in the Baltics:\n\n1. **Tallinn** - old walls\n2. Riga\n3. Vilnius\n\nShall I book?"
ASKED = "What was the second city you suggested?"


async def second(memory: Memory, as_of: int | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the first line of the first hit, and its turns."""
    hit = (await hits(memory, ASKED, as_of=as_of))[0]
    assert hit.kind is RecordKind.STRUCTURED
    return hit.text.splitlines()[0], hit.turn_ids


async def test_the_member_asked_for_now_and_as_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, turn("q", "Where to in the Baltics?"), turn("a", CITIES, BOT), *chatter(3))
        assert await second(memory) == ("2. Riga", ("a",))
        await tell(memory, turn("e", "Replace the second one with Liepaja.", reply_to="a"), *chatter(2, 3))
        assert await second(memory) == ("2. Liepaja", ("e", "a"))
        assert await second(memory, as_of=4) == ("2. Riga", ("a",))
        again = turn("b", "Cities to see in the Baltics:\n- Tartu\n- Narva\n- Liepaja", BOT, reply_to="e")
        await tell(memory, again, *chatter(2, 5))
        assert await second(memory) == ("2. Narva", ("b",))
        assert [record.revision for record in records(memory, RecordKind.STRUCTURED)] == [0, 1, 2]
        await tell(
            memory, turn("b", "Cities to see in the Baltics:\n- Tartu\n- Kaunas", BOT, revision=1), *chatter(1, 7)
        )
        assert await second(memory) == ("2. Kaunas", ("b",))
        assert len(retired(memory)) >= 3
        got = await memory.context(SPACE, ContextInput(text=ASKED, speaker="mia"), 4000)
        assert any(line.part is Part.STRUCTURED and line.text.startswith("2. Kaunas") for line in got.lines)


async def test_lists_survive_a_restart_and_other_batches(tmp_path: Path) -> None:
    """Kept lists are state: one run and a run for each turn make the same memory."""
    log = [turn("a", CITIES, BOT), turn("e", "Drop the last one."), turn("f", "Swap 1 and 2."), *chatter(2)]
    async with opened(tmp_path / "one") as memory:
        await tell(memory, *log)
        whole = apart = rows(memory)
    for payload in log:
        async with opened(tmp_path / "each") as memory:
            await tell(memory, payload)
            apart = rows(memory)
    assert apart == whole
    assert sum('"kind":"structured"' in row for row in whole) == 3
