"""Elsewhere: one NUL poisons a batch for ever; empty text crashes or is stored; a record that spins stops everybody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.models import HashEmbedder
from schemas.memory import OutcomeState, RecordKind
from schemas.recall import Question
from schemas.space import Space
from schemas.turn import Speaker
from streams.stopped import Stopped
from streams.watchdog import HUNG
from tests.faults.user import SPACE, cited, cli, ended, lived, opened, printed, records, rows, tell, turn

BEN = Space("acme/ben")
GOOD = [turn("m1", "I live in Oslo."), turn("m2", "The tram was late.")]

POISON = [
    ("a NUL", b'"I like \\u0000tea."', "I like tea."),
    ("a lone surrogate", b'"I like \\ud800tea."', "I like tea."),
    ("the other half alone", b'"I like \\udc00tea."', "I like tea."),
    ("a raw surrogate", b'"I like \xed\xa0\x80tea."', "I like tea."),
    ("a pair in two escapes", b'"I like \\ud83c\\udf75."', "I like \U0001f375."),
    ("controls", b'"I like\\u0007 \\u001btea.\\u0085"', "I like tea."),
    ("marks on marks", b'"I like tea.' + "\u0301".encode() * 3000 + b'"', "I like tea"),
    ("thousands of brackets", b'"I like tea. ' + b"([{" * 3_000 + b'"', "I like tea."),
]

SPINS = """
import os, sys
from infra import cli, embedded_plane
from stages.route import Route
from streams import embedded
from streams.watchdog import Watchdog

decide = Route.decide

async def caught(self, message, state):
    while message.header.event_id == "spin":
        pass
    return await decide(self, message, state)

Route.decide = caught
embedded.Watchdog = lambda note: Watchdog(note, limit=0.5, turn=0.1)
sys.argv[1:] = ["turns", "--space", "acme/mia", "--json"]
for _ in range(3):
    process = os.fork()
    if not process:
        cli.main()
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.mark.parametrize(("what", "spelled", "kept"), POISON, ids=[what for what, _, _ in POISON])
async def test_fault_23_a_poisoned_text_is_cleaned_and_its_batch_is_whole(
    home: Path, what: str, spelled: bytes, kept: str
) -> None:
    odd = turn("odd", "TEXT").replace(b'"TEXT"', spelled)
    async with opened(home) as memory:
        await tell(memory, GOOD[0], odd, GOOD[1])
        assert [one.state for one in memory.turns(SPACE)] == [OutcomeState.COMMITTED] * 3, what
        said = {row.piece: row.text for row in records(memory, RecordKind.TURN) if row.provenance == ("odd",)}
        assert said[0].startswith(kept)
        assert "".join(rows(memory)).encode()
    assert printed(home, "records", "--space", SPACE)


@pytest.mark.parametrize("field", ["turn_id", "speaker", "session", "reply_to", "attachments"])
async def test_fault_23_poison_in_any_other_field_hurts_its_own_turn_at_most(home: Path, field: str) -> None:
    bad = "a\x00b\ud800c"
    values: dict[str, Any] = {
        "speaker": Speaker.model_construct(id=bad, name=bad),
        "attachments": [{"caption": bad}],
    }
    fields = {"turn_id": "odd", "text": "I like tea.", field: values.get(field, bad)}
    async with opened(home) as memory:
        await tell(memory, GOOD[0], turn(**fields), GOOD[1])
        assert {"m1", "m2"} <= {row.provenance[0] for row in records(memory, RecordKind.TURN)}
        assert memory.sums().pending == 0
        assert memory.sums().committed + memory.sums().lettered == 3
        assert "".join(rows(memory)).encode()
    assert cli(home, "letters", "list").exit_code == cli(home, "turns", "--space", SPACE).exit_code == 0


class Fragile(HashEmbedder):
    """A model whose tokenizer a certain text crashes."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if any("tea" in text for text in texts):
            msg = "index out of range in self"
            raise IndexError(msg)
        return await HashEmbedder().embed(texts)


async def test_fault_23_a_record_that_crashes_a_stage_is_set_aside_and_the_rest_goes_on(home: Path) -> None:
    """The third time; in another space and behind it in its own, everything is remembered."""
    async with opened(home, Fragile(), wait=False) as memory:
        await memory.publish(SPACE, [GOOD[0], turn("odd", "I like tea."), GOOD[1]])
        await memory.publish(BEN, [turn("b1", "I live in Rome.", space=BEN)])
    for _ in range(2):
        with pytest.raises(Stopped, match="odd"):
            async with opened(home, Fragile()):
                pass
    async with opened(home, Fragile()) as memory:
        (letter,) = memory.letters()
        assert (letter.turn_id, letter.stage, letter.input_fault) == ("odd", "normalize", False)
        assert "IndexError" in letter.reason
        assert str(memory.sums()) == "published=4 committed=3 lettered=1 duplicates=0 forgotten=0 pending=0"
        assert await cited(memory, "Where does Mia live?", k=1) == ["m1"]
        assert await cited(memory, "Where does Mia live?", space=BEN) == ["b1"]


async def test_fault_19_a_record_that_spins_has_a_wall_clock_limit(home: Path) -> None:
    """The process ends and names the turn's place; the third time the turn is a letter, and all others are there."""
    async with opened(home, wait=False) as memory:
        await memory.publish(SPACE, [GOOD[0], turn("spin", "I like tea."), GOOD[1]])
    runs = await ended(home, SPINS)
    assert runs.stdout.split() == [str(HUNG)] * 3, runs.stderr
    assert runs.stderr.count("route did not come back") == 3
    async with opened(home) as memory:
        states = {one.turn_id: one.state for one in memory.turns(SPACE)}
        assert states == {"m1": OutcomeState.COMMITTED, "spin": OutcomeState.LETTERED, "m2": OutcomeState.COMMITTED}


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u200b\u200d\ufeff", "\x00\x01", "\u3000", "\u0301"])
async def test_fault_24_empty_text_is_a_counted_letter(home: Path, text: str) -> None:
    async with opened(home) as memory:
        await tell(memory, GOOD[0], turn("blank", text), GOOD[1])
        assert str(memory.sums()) == "published=3 committed=2 lettered=1 duplicates=0 forgotten=0 pending=0"
        (letter,) = memory.letters(SPACE)
        assert letter.turn_id == "blank"
        assert letter.reason.startswith("blank")
        assert "blank" not in {row.provenance[0] for row in records(memory)}


async def test_fault_24_a_picture_without_words_is_remembered_by_its_caption(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("p1", "", attachments=[{"caption": "a heron on a mill"}, {"url": "https://x.test/1"}]))
        await tell(memory, turn("p2", "", attachments=[{"url": "https://x.test/2"}]))
        assert await cited(memory, "Where was the heron?") == ["p1"]
        assert [letter.turn_id for letter in memory.letters(SPACE)] == ["p2"]


async def test_fault_24_an_empty_question_is_refused_and_a_question_of_signs_finds_nothing_wrong(home: Path) -> None:
    await lived(home, *GOOD)
    refused = cli(home, "recall", "--space", SPACE, "--question", " \n ")
    assert refused.exit_code == 2
    with pytest.raises(ValueError, match="question"):
        Question(question="")
    for signs in ("?!", "\u200b.", "\U0001f375", "\ud800?", "\x00?"):
        assert cli(home, "recall", "--space", SPACE, "--question", signs).exit_code in {0, 2}, signs
