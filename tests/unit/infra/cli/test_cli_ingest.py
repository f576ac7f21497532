"""``ingest``: sums, what a stop or a failure leaves pending, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.errors import HomeBusy, ModelMissing
from stages.contract import Unavailable
from tests.fakes.command import SPACE, TURNS, Cli, jsonl, line, objects
from tests.fakes.memory import FakeMemory


def test_ingest_ends_with_the_sums_of_this_run(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    first, second = (cli("ingest", str(chat), "--format", "jsonl") for _ in range(2))
    assert first.stdout == "published=3 committed=3 lettered=0 duplicates=0 forgotten=0 pending=0\n"
    assert second.stdout == "published=3 committed=0 lettered=0 duplicates=3 forgotten=0 pending=0\n"
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert [key for key, _ in memory.log] == [SPACE] * 6


def test_lettered_turns_are_exit_code_4(cli: Cli, tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "bad.jsonl", TURNS[0], {"space": SPACE, "turn_id": "t9"}, line("t2", "x", space="other/one")
    )
    result = cli("ingest", str(path), "--format", "jsonl", "--space", SPACE)
    assert result.exit_code == 4
    assert result.stdout.splitlines()[-1] == "published=3 committed=1 lettered=2 duplicates=0 forgotten=0 pending=0"
    assert "letters list" in result.stderr


def test_what_an_earlier_run_left_pending_is_finished_and_not_counted(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    memory.log.extend((SPACE, json.dumps(line(f"t{n}", "left over")).encode()) for n in (7, 8))
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.stdout == "published=3 committed=3 lettered=0 duplicates=0 forgotten=0 pending=0\n"
    assert memory.sums().committed == 5


def test_a_stop_leaves_the_rest_pending_for_the_next_run(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    def stop() -> None:
        if memory.done == 1:
            raise KeyboardInterrupt

    memory.pause = stop
    stopped = cli("ingest", str(chat), "--format", "jsonl")
    memory.pause = lambda: None
    assert (stopped.exit_code, stopped.stdout) == (130, "")
    assert "the next run goes on" in stopped.stderr
    assert [turn["state"] for turn in objects(cli("turns", "--space", SPACE, "--json"))] == ["committed"] * 3


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelMissing("m", "not there", "fetch it"), "To bring it: fetch it"),
        (HomeBusy("in use by process 7"), "process 7"),
        (Unavailable("the index is silent"), "index is silent"),
    ],
)
def test_what_is_missing_is_exit_code_3(cli: Cli, chat: Path, memory: FakeMemory, error: Exception, told: str) -> None:
    def fail() -> None:
        raise error

    memory.pause = fail
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.exit_code == 3
    assert told in result.stderr


def test_an_answer_that_fails_leaves_the_sums_of_what_is_pending(cli: Cli, chat: Path, memory: FakeMemory) -> None:
    def fail() -> None:
        if memory.done == 2:
            raise Unavailable

    memory.pause = fail
    result = cli("ingest", str(chat), "--format", "jsonl")
    assert result.stdout == "published=3 committed=2 lettered=0 duplicates=0 forgotten=0 pending=1\n"
    assert result.exit_code == 3
