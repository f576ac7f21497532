"""A text at which a stage crashes: tried again by the next run, the third time a letter, and the space goes on."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.header import Skipped
from schemas.letter import Letter
from schemas.space import Space
from stages.commit import Commit
from stages.extract_per_view import ExtractPerView
from stages.localize_state import LocalizeState
from stages.normalize import Normalize, pieces
from stages.normalize import stage as normalize_stage
from stages.route import Route
from streams.asking import CRASHES
from streams.deaths import SPARED
from streams.hand import BATCH, Hand, Held
from streams.journal import Journal
from tests.fakes.folders import quick_folder
from tests.hostile.case import CRANE, SPACE, turn
from tests.hostile.command import HERE, ROOT, goes_on, ingest, lines, run, write

STAGES = (Normalize, LocalizeState, ExtractPerView, Route, Commit)
ODD = "the odd one"
EVENTS = (turn("before"), turn("odd", ODD), turn("after", f"{CRANE} Twice."))

FORKS = """
import os, sys
from pathlib import Path
from infra import stages as wiring
from infra.models import HashEmbedder
from stages.normalize import stage as normalize
from tests.hostile.command import HERE, run

home, file, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
heard, told = os.pipe()
{patch}
codes = []
while len(codes) < 12 and 0 not in codes:
    arguments = ("turns", *HERE) if codes else ("ingest", file, "--format", "jsonl")
    child = os.fork()
    if child == 0:
        os._exit(run(home, *arguments).exit_code)
    if len(codes) < kills:
        os.read(heard, 1)
        os.kill(child, 9)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(*codes)
"""
"""Commands in processes of their own, one after the other, until one comes to its end."""

EXITS = """
stage = wiring.NAMED
decide = stage.decide
async def dies(self, message, state):
    if message.header.event_id == "odd" and type(message).__name__ != "Skipped":
        os._exit(139)
    return await decide(self, message, state)
stage.decide = dies
"""

EXITS_WHILE_PREPARING = f"""
cut = normalize.cut
def dies(text):
    if {ODD!r} in text:
        os._exit(139)
    return cut(text)
normalize.cut = dies
"""

WAITS = f"""
import asyncio
embed = HashEmbedder.embed
async def waits(self, texts):
    if len(codes) < kills and any({ODD!r} in text for text in texts):
        asyncio.get_running_loop().call_soon(os.write, told, b"w")  # once the stage waits
        await asyncio.sleep(3600)
    return await embed(self, texts)
HashEmbedder.embed = waits
"""


DEATHS = SPARED + CRASHES
"""Deaths at one record until it is a letter."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield made
        goes_on(made / "home", made)


def letters(home: Path) -> list[Letter]:
    journal = Journal(home / "log.sqlite")
    try:
        return list(journal.letters())
    finally:
        journal.close()


def only_the_odd_one_is_lettered(home: Path) -> Letter:
    states = {found["turn_id"]: found["state"] for found in lines(run(home, "turns", *HERE, "--json"))}
    assert states == {"before": "committed", "odd": "lettered", "after": "committed"}
    (letter,) = letters(home)
    assert (letter.turn_id, letter.input_fault, "crashed" in letter.reason) == ("odd", False, True)
    return letter


def raising(decide: Callable[..., Any]) -> Callable[..., Any]:
    async def crashes(self: Any, message: Any, state: Any) -> Any:
        if message.header.event_id == "odd" and not isinstance(message, Skipped):
            raise ZeroDivisionError(ODD)
        return await decide(self, message, state)

    return crashes


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_stage_raises(folder: Path, stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice exit code 1, naming turn and stage; the third time a letter with the traceback."""
    with monkeypatch.context() as patch:
        patch.setattr(stage, "decide", raising(stage.decide))
        first = ingest(folder / "home", write(folder / "chat.jsonl", *EVENTS))
        second = run(folder / "home", "turns", *HERE)
        third = run(folder / "home", "turns", *HERE)
    assert [first.exit_code, second.exit_code, third.exit_code] == [1, 1, 0]
    for told, times in ((first.stderr, 1), (second.stderr, 2)):
        assert all(word in told for word in (stage.name, "'odd'", f"time {times} of 3", "run again"))
        assert "Traceback" not in told
    letter = only_the_odd_one_is_lettered(folder / "home")
    assert (letter.stage, "ZeroDivisionError" in letter.reason) == (stage.name, True)


def test_stage_raises_while_it_prepares(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What prepares a batch has no effect on results: the fault is reported, and every turn is committed."""
    seen: list[str] = []

    def crashes(text: str) -> Any:
        seen.append(text)
        if ODD in text and seen.count(text) == 1:
            raise ZeroDivisionError(ODD)
        return pieces.cut(text)

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(normalize_stage, "cut", crashes)
        done = ingest(folder / "home", write(folder / "chat.jsonl", *EVENTS))
    assert (done.exit_code, "committed=3" in done.stdout) == (0, True)
    assert ["could not prepare" in record.message for record in caplog.records] == [True]


def codes(home: Path, folder: Path, patch: str, kills: int = 0) -> list[int]:
    """Return the exit codes of the commands that a fault of a stage ended, and of the one that came through."""
    file = write(folder / "chat.jsonl", *EVENTS)
    command = [sys.executable, "-c", FORKS.replace("{patch}", patch), str(home), str(file), str(kills)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    return [int(code) for code in done.stdout.split()]


@pytest.mark.parametrize("stage", ["Normalize", "Route"])
def test_process_dies_inside_a_stage(folder: Path, stage: str) -> None:
    """As by a fault in native code: counted by the next run; a letter after more deaths than kills explain."""
    assert codes(folder / "home", folder, EXITS.replace("NAMED", stage)) == [139] * DEATHS + [0]
    only_the_odd_one_is_lettered(folder / "home")


def test_process_dies_while_a_stage_prepares(folder: Path) -> None:
    """The next run tries the records of that space alone, so that the one at fault is found: one death more."""
    assert codes(folder / "home", folder, EXITS_WHILE_PREPARING) == [139] * (DEATHS + 1) + [0]
    only_the_odd_one_is_lettered(folder / "home")


def test_process_is_killed_while_a_stage_waits(folder: Path) -> None:
    """A kill from outside while a model is waited for blames no record, however often: everything is committed."""
    assert codes(folder / "home", folder, WAITS, kills=4) == [-9, -9, -9, -9, 0]
    assert [found["state"] for found in lines(run(folder / "home", "turns", *HERE, "--json"))] == ["committed"] * 3
    assert letters(folder / "home") == []


def test_the_hand_of_a_process_that_ended_well_is_empty(tmp_path: Path) -> None:
    """Only what a process died with is counted."""
    held = Held("normalize", Space(SPACE), 7)
    with Hand(tmp_path / "hand") as hand:
        hand.take(held.note())
    with Hand(tmp_path / "hand") as hand:
        assert hand.dropped is None
        hand.take(Held("route", Space(SPACE), BATCH).note())
        hand.take(held.note())
        with Hand(tmp_path / "hand") as other:  # as the next process finds it if this one dies here
            assert other.dropped == held
            assert other.fell_at("normalize", Space(SPACE)) == held.offset
            assert other.fell_at("route", Space(SPACE)) is None


def test_a_hand_that_is_damaged_holds_nothing(tmp_path: Path) -> None:
    """A file of another make is no reason to stop."""
    (tmp_path / "hand").write_bytes(b"\x01\xff\xffgarbage")
    with Hand(tmp_path / "hand") as hand:
        assert hand.dropped is None
