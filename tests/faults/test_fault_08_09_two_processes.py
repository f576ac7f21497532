"""Elsewhere: two writers make permanent duplicates and lost links; an index opened by two processes is corrupted."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.errors import HomeBusy
from infra.home import owner
from schemas.memory import RecordKind, row_key
from tests.faults.user import BOT, SPACE, child, cited, cli, jsonl, lived, opened, records, rows, tell, turn

TALK = [
    turn("m1", "I live in Oslo. I love steak."),
    turn("a1", "Noted, the lamp is ordered.", BOT, reply_to="m1"),
    turn("m2", "My sister Elin lives in Bergen."),
    turn("m3", "The electrician comes on Thursday."),
    turn("m4", "No, I said Tuesday."),
]

HOLD = """
import asyncio, sys
from infra.bootstrap import open_memory
from infra.settings import load_settings
from schemas.space import Space

async def main():
    async with open_memory(load_settings()) as memory:
        await memory.publish(Space("acme/mia"), [line.encode() for line in sys.argv[1:]])
        await memory.run()
        print("mine", flush=True)
        sys.stdin.read()

asyncio.run(main())
"""


@contextmanager
def held(home: Path, *payloads: bytes) -> Iterator[subprocess.Popen[str]]:
    """Let another process open the memory of a home, fill it and keep it open."""
    call = child(home, HOLD, *payloads)
    with subprocess.Popen(**call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mine\n"
        try:
            yield process
        finally:
            process.kill()


async def test_fault_09_the_second_process_is_refused_and_told_which_the_first_is(
    home: Path, second: Path, tmp_path: Path
) -> None:
    """Whatever it wants to do; what the first wrote is whole afterwards, even if it is killed."""
    calm = await lived(second, *TALK)
    path = jsonl(tmp_path / "more.jsonl", [turn("late", "A tram bell.")])
    asked = ("recall", "--space", SPACE, "--question", "Where?")
    with held(home, *TALK) as first:
        for command in (("ingest", path, "--format", "jsonl"), asked, ("space", "inspect", SPACE, "--no-wait")):
            refused = cli(home, *command)
            assert (refused.exit_code, refused.stdout) == (3, "")
            assert f"process {first.pid}" in refused.stderr
        assert owner(home) == str(first.pid)
    async with opened(home) as memory:
        assert memory.sums().published == len(TALK)
        assert rows(memory) == calm
        assert "m1" in await cited(memory, "Where does Mia live?")


async def test_fault_09_a_second_opening_within_one_process_is_refused_too(home: Path) -> None:
    async with opened(home) as memory:
        await tell(memory, *TALK)
        with pytest.raises(HomeBusy):
            async with opened(home) as other:
                await tell(other, turn("late", "A tram bell."))
        assert len(records(memory, RecordKind.TURN)) == len(TALK)


async def test_fault_08_whoever_writes_and_in_however_many_runs_the_ids_are_the_same(home: Path, second: Path) -> None:
    at_once = await lived(second, *TALK)
    for payload in TALK:
        await lived(home, payload)
    async with opened(home) as memory:
        assert rows(memory) == at_once
        keys = [row_key(row) for row in memory.rows(SPACE)]
    assert len(keys) == len(set(keys))


async def test_fault_08_links_name_records_that_are_there(home: Path) -> None:
    async with opened(home) as memory:
        for payload in TALK:
            await tell(memory, payload, payload)
        known = {row.id for row in records(memory)}
        edges = [row for row in map(json.loads, rows(memory)) if row["row"] == "edge"]
    assert edges
    assert all({edge["source"], edge["target"]} <= known for edge in edges)
