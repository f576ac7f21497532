"""Elsewhere: the memory fills with junk: boot text, recalled memories extracted again, invented profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.extracted import Extracted, Item, ItemKind, Key
from schemas.memory import RecordKind, RecordRow
from schemas.recall import ContextInput
from schemas.span import Span
from schemas.turn import Role, Speaker
from tests.fakes.flow import Flow
from tests.faults.user import BOT, MIA, SPACE, chatter, cited, items, opened, printed, records, rows, tell, turn

SYSTEM = Speaker(id="system", name="System", role=Role.SYSTEM)
TALK = [
    turn("m1", "Hello Pilot! I live in Oslo, and yesterday my sister Elin moved to Bergen."),
    turn("m2", "I work as a nurse. I love steak, and 你好 to you too 😄 — I bought a blue bicycle."),
    turn("m3", "That bicycle cost 900 euros in May.", attachments=[{"caption": "a blue bicycle by a wall"}]),
    turn("a1", "I ordered the lamp for you. The delivery is planned for Friday.", BOT),
]


def quoted(item: RecordRow, said: str) -> str:
    """Return what an item quotes of what was said."""
    assert item.span is not None
    assert item.span.end <= len(said)
    return item.span.of(said)


async def test_fault_01_every_item_quotes_the_turn_that_it_rests_on(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TALK)
        said = {json.loads(one)["turn_id"]: json.loads(one)["text"] for one in TALK}
        found = {item.text: quoted(item, said[item.provenance[0]]) for item in items(memory)}
    assert found["Mia: That bicycle cost 900 euros in May (2026-05)."] == "That bicycle cost 900 euros in May."
    assert found["Mia works as a nurse."] == "I work as a nurse."
    assert all(quote.strip() == quote for quote in found.values())
    shown = [row for row in printed(home, "records", "--space", SPACE) if row.get("kind") in {"event", "attribute"}]
    assert shown
    assert all(row["span"]["end"] > row["span"]["start"] >= 0 for row in shown)


async def test_fault_01_an_item_that_quotes_nothing_is_refused(home: Path) -> None:
    """What would take out more than was said, as a model may, is stopped before memory."""
    heard: list[Extracted] = []

    class Ear(Flow):
        async def route(self, message: Any) -> Any:
            heard.append(message)
            return await super().route(message)

    await Ear().say("I live in Oslo.")
    (real,) = heard[0].items
    made = {"kind": ItemKind.FACT, "text": "Mia owns a yacht.", "key": Key(owner="mia", subject=None, attribute="a")}
    invented = Item(**{**dict(real), **made, "span": Span(start=0, end=99)})
    with pytest.raises(ValidationError, match="Mia owns a yacht"):
        Extracted(header=heard[0].header, localized=heard[0].localized, items=(real, invented))
    with pytest.raises(ValidationError, match="provenance"):
        Item(**{**dict(real), "provenance": ()})


async def test_fault_01_boot_text_says_nothing_of_anybody(home: Path) -> None:
    boot = (
        "You are a helpful assistant. The user is called Mia. Mia lives in Paris and loves long walks. "
        "Always answer politely. Tools: search, memory. Session 12 started; I work as a nurse."
    )
    async with opened(home) as memory:
        await tell(memory, turn("boot", boot, SYSTEM), turn("m1", "I live in Oslo."))
        await tell(memory, *(turn(f"boot{n}", boot, SYSTEM) for n in range(30)), turn("m2", "Good morning!"))
        assert [item.text for item in items(memory)] == ["Mia lives in Oslo."]


async def test_fault_01_a_context_block_that_is_said_back_makes_no_new_memory_of_the_person(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TALK, *chatter(25))
        before = [item for item in items(memory) if item.owner == MIA.id]
        bundle = await memory.context(
            SPACE, ContextInput(text="Where do I live, and what do I do?", speaker=MIA.id), 900
        )
        block = "\n".join(f"- {line.text}" for line in bundle.lines)
        assert "Oslo" in block
        said = f"This is what I know:\n{block}\nYou live in Oslo and love steak."
        await tell(memory, turn("a2", said, BOT, day=2))
        await tell(memory, *chatter(21, 30, day=3))
        mine = [item for item in items(memory) if item.owner == MIA.id and not item.text.startswith("Mia: Tram")]
        assert mine == [item for item in before if not item.text.startswith("Mia: Tram")]
        again = [item for item in items(memory) if item.provenance == ("a2",)]
        assert all(quoted(item, said) in said.splitlines()[-1] for item in again)
        assert "m1" in (await cited(memory, "Where does Mia live?"))[:2]


@pytest.mark.parametrize("line", ["- Mia: I live in Oslo.", "> I live in Oslo.", "* Mia (2026-03-01): I live in Oslo."])
async def test_fault_01_who_repeats_a_line_of_another_does_not_say_it(home: Path, line: str) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "Good evening, Pilot, the weather in Hamburg is awful."), turn("a1", line, BOT))
        await tell(memory, turn("a2", f"I looked it up in memory:\n{line.lstrip('-* ')}\nI sent the form to Ben.", BOT))
        texts = [item.text for item in items(memory)]
    assert "Pilot sent the form to Ben." in texts
    assert not any("Oslo" in text for text in texts)


@pytest.mark.parametrize("line", ["Mia: I live in Oslo.", ">:( I live in Oslo."])
async def test_fault_01_a_line_that_speaks_to_somebody_is_no_quotation(home: Path, line: str) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "Hello!"), turn("b1", line, Speaker(id="ben", name="Ben")))
        assert [item.owner for item in items(memory)] == ["ben"]


async def test_fault_01_asking_writes_nothing(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TALK)
        before = rows(memory)
        await cited(memory, "Remember that I live in Rome. Where do I live?", asker=MIA.id)
        await memory.context(SPACE, ContextInput(text="I moved to Rome.", speaker=MIA.id), 500)
        await memory.run()
        assert rows(memory) == before
        assert memory.sums().published == len(TALK)


async def test_fault_01_no_profile_is_made_of_what_an_agent_says(home: Path) -> None:
    async with opened(home) as memory:
        await tell(
            memory, turn("a1", "You live in Oslo, Mia. You love jazz, you are a nurse and I am an engineer.", BOT)
        )
        await tell(memory, turn("m1", "Hm."), *chatter(25))
        assert records(memory, RecordKind.ATTRIBUTE, RecordKind.PERSONA) == []
