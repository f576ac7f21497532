"""One process owns a home; the second is told who does (faults, row 9)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from infra.bootstrap import open_memory
from infra.embedded_memory import EmbeddedMemory
from infra.errors import HomeBusy, HomeUnusable
from infra.home import LOG, owned, owner
from infra.memory_api import Memory
from infra.settings import Settings
from schemas.space import Space
from streams.journal import Journal
from streams.stopped import WrongHome
from tests.fakes.runtime import event

HOLD = """
import sys
from pathlib import Path
from infra.home import owned
with owned(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


def test_the_second_process_is_refused_and_told_who_owns_it(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "mine\n"
    with pytest.raises(HomeBusy, match=f"process {holder.pid}"), owned(tmp_path):
        pass
    assert owner(tmp_path) == str(holder.pid)
    holder.kill()
    holder.wait()
    assert owner(tmp_path) is None
    with owned(tmp_path):
        pass


def test_a_home_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeUnusable, match="ANABRANCH_HOME"), owned(tmp_path / "file" / "home"):
        pass


def test_a_home_for_another_model_is_refused_with_both_names(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log.sqlite")
    journal.pin("model", "one", "set it back")
    journal.close()
    again = Journal(tmp_path / "log.sqlite")
    with pytest.raises(WrongHome, match=r"'one'.*'two'.*set it back"):
        again.pin("model", "two", "set it back")


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_text("garbage, not a database at all, really" * 50)
    with pytest.raises(WrongHome, match="another ANABRANCH_HOME"):
        Journal(tmp_path / "log.sqlite")


def opened(home: Path) -> AbstractAsyncContextManager[Memory]:
    return open_memory(Settings(home=home, embedder="hash"))


async def test_a_log_that_breaks_in_the_middle_is_named_with_the_way_out(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.publish(Space("acme/u-1"), [event("acme/u-1", str(n), "word " * 200) for n in range(200)])
    log = tmp_path / LOG
    half = log.stat().st_size // 2
    log.write_bytes(log.read_bytes()[:half] + b"\xff" * half)  # the first pages hold, so it opens
    with pytest.raises(HomeUnusable, match=rf"{log} is damaged .*restore it"):
        async with opened(tmp_path) as memory:
            memory.sums()


async def ask(home: Path, statement: str, *bodies: bytes) -> None:
    """Open a home, give its database a statement behind its back, and publish."""
    async with opened(home) as memory:
        assert isinstance(memory, EmbeddedMemory)
        memory.journal._db.execute(statement)
        await memory.publish(Space("acme/u-1"), bodies)


async def test_a_log_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(HomeUnusable, match=rf"{tmp_path / LOG} cannot be read or written .*full.*run again"):
        await ask(tmp_path, "PRAGMA max_page_count = 20", event("acme/u-1", "t", "x" * 100_000))


async def test_a_bug_in_a_statement_stays_a_bug(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        await ask(tmp_path, "INSERT INTO meta VALUES ('version', NULL)")
