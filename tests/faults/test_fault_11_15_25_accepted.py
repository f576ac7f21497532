"""Elsewhere: writing blocks for minutes; "success", and weeks of data missing; not found right after writing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.memory_api import Memory, Sums
from infra.models import HashEmbedder
from schemas.memory import OutcomeState, RecordKind
from schemas.recall import Question
from stages.contract import Unavailable
from tests.faults.user import SPACE, cited, cli, ended, jsonl, opened, printed, records, tell, turn

NO_MODEL = "sentence-transformers:./nowhere"
TALK = [turn("m1", "I live in Oslo."), turn("m2", "I work as a nurse."), turn("m3", "The tram was late.")]
MIXED = [
    *TALK,
    TALK[0],
    turn("blank", " \n "),
    turn("odd", "hello", colour="red"),
    b"no turn at all",
    turn("elsewhere", "hello", space="acme/ben"),
    turn("m2", "I work as a pilot."),
    turn("m2", "I work as a pilot.", revision=1),
    turn("m2", "I work as a nurse."),
]

PUBLISH_AND_DIE = """
import asyncio, os, signal, sys
from infra.bootstrap import open_memory
from infra.settings import load_settings
from schemas.space import Space

async def main():
    async with open_memory(load_settings(), wait=False) as memory:
        await memory.publish(Space("acme/mia"), [line.encode() for line in sys.argv[1:]])
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


class Away(HashEmbedder):
    """A model that does not answer."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        msg = "the model is away"
        raise Unavailable(msg)


def holds(sums: Sums) -> bool:
    """Tell whether every published event is somewhere, once."""
    ended = sums.committed + sums.lettered + sums.duplicates + sums.forgotten
    return sums.published == ended + sums.pending


async def test_fault_11_what_the_log_has_is_accepted_without_any_model(home: Path) -> None:
    async with opened(home, Away(), wait=False) as memory:
        await memory.publish(SPACE, TALK)
        assert [one.state for one in memory.turns(SPACE)] == [None, None, None]
    (status,) = printed(home, "space", "inspect", SPACE, "--no-wait", embedder=NO_MODEL)
    assert {stage["stage"]: stage["lag"] for stage in status["stages"]} == {
        "normalize": 3, "localize_state": 0, "extract_per_view": 0, "route": 0, "commit": 0
    }  # fmt: skip
    assert (status["position"], status["watermark"], status["sums"]["pending"]) == (-1, -1, 3)
    assert cli(home, "space", "inspect", SPACE, embedder=NO_MODEL).exit_code == 3


async def test_fault_11_what_was_accepted_survives_the_death_of_the_process(home: Path) -> None:
    assert (await ended(home, PUBLISH_AND_DIE, *TALK)).returncode == -9
    async with opened(home) as memory:
        assert memory.sums().committed == 3
        assert await cited(memory, "Where does Mia live?", k=1) == ["m1"]


async def test_fault_15_accepted_committed_and_lettered_are_different_states_and_the_sums_are_exact(home: Path) -> None:
    async with opened(home, Away(), wait=False) as memory:
        await memory.publish(SPACE, MIXED)
        assert memory.sums() == Sums(published=11, pending=11)
        with pytest.raises(Unavailable):
            await memory.run()
        assert holds(memory.sums())
    async with opened(home) as memory:
        assert str(memory.sums()) == "published=11 committed=4 lettered=5 duplicates=2 forgotten=0 pending=0"
        await memory.publish(SPACE, [turn("m9", "Later.")])
        assert str(memory.sums()) == "published=12 committed=4 lettered=5 duplicates=2 forgotten=0 pending=1"
        states = {one.turn_id: one.state for one in memory.turns(SPACE)}
        assert states == {
            "m1": OutcomeState.COMMITTED,
            "m2": OutcomeState.COMMITTED,
            "m3": OutcomeState.COMMITTED,
            "blank": OutcomeState.LETTERED,
            "odd": OutcomeState.LETTERED,
            "elsewhere": OutcomeState.LETTERED,
            "m9": None,
        }
        await memory.run()
        check(memory)


def check(memory: Memory) -> None:
    """Hold the sums to the letters and to the records that are there."""
    sums = memory.sums()
    assert sums.lettered == len(list(memory.letters(SPACE)))
    assert sums.committed == len(records(memory, RecordKind.TURN))
    assert all(letter.reason and letter.original for letter in memory.letters(SPACE))


def test_fault_15_the_command_ends_with_the_sums_and_says_when_something_is_missing(home: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "chat.jsonl", MIXED)
    gone = cli(home, "ingest", path, "--format", "jsonl", "--space", SPACE, embedder=NO_MODEL)
    assert gone.exit_code == 3
    assert gone.stdout.splitlines()[-1].endswith("pending=11")
    done = cli(home, "ingest", path, "--format", "jsonl", "--space", SPACE)
    assert done.exit_code == 4
    assert "letters list" in done.stderr
    shown = printed(home, "letters", "list", "--space", SPACE)
    assert {one["reason"].partition(":")[0] for one in shown} >= {"blank", "conflict"}
    assert all(one["reason"] for one in shown)


async def test_fault_25_what_was_just_written_is_found_or_the_answer_says_that_it_is_stale(home: Path) -> None:
    asked = Question(question="Where does Mia live?")
    async with opened(home) as memory:
        await tell(memory, turn("m0", "Hello!"))
        await memory.publish(SPACE, [turn("m1", "I live in Oslo.")])
        early = await memory.recall(SPACE, asked, after="m1")
        assert (early.stale, early.behind) == (True, 1)
        await memory.run()
        found = await memory.recall(SPACE, asked, after="m1")
        assert (found.stale, found.behind) == (False, 0)
        assert found.hits[0].turn_ids == ("m1",)


async def test_fault_25_a_token_that_names_a_revision_waits_for_that_revision(home: Path) -> None:
    asked = Question(question="Where does Mia live?")
    async with opened(home) as memory:
        await tell(memory, turn("m1", "I live in Oslo."))
        await memory.publish(SPACE, [turn("m1", "I live in Rome.", revision=1)])
        assert (await memory.recall(SPACE, asked, after="m1@1")).stale
        assert not (await memory.recall(SPACE, asked, after="m1@0")).stale
        await memory.run()
        found = await memory.recall(SPACE, asked, after="m1@1")
        assert not found.stale
        assert "Rome" in found.hits[0].text


async def test_fault_25_a_token_nobody_wrote_is_stale_and_a_letter_has_ended(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, turn("m1", "I live in Oslo."), turn("blank", "  "))
        asked = Question(question="Where does Mia live?")
        assert (await memory.recall(SPACE, asked, after="m99")).stale
        assert not (await memory.recall(SPACE, asked, after="blank")).stale


def test_fault_25_the_command_line_finishes_what_is_pending_or_is_told_not_to_wait(home: Path, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "chat.jsonl", TALK)
    assert cli(home, "ingest", path, "--format", "jsonl", embedder=NO_MODEL).exit_code == 3
    question = ("recall", "--space", SPACE, "--question", "Where does Mia live?", "--after", "m3")
    (stale,) = printed(home, *question, "--no-wait")
    assert (stale["stale"], stale["behind"], stale["hits"]) == (True, 3, [])
    (found,) = printed(home, *question)
    assert (found["stale"], found["hits"][0]["turn_ids"]) == (False, ["m1"])
