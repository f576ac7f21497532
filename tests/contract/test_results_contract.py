"""The contract of what keeps answers of models, on memory and on a file; tests/kafka has it on a broker."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stages.contract import Unavailable
from streams.results import FileResults, Results
from streams.stopped import WrongHome
from tests.fakes.results import MemoryResults
from tests.fakes.results_suite import ACME, Opened, ResultsContract, result


def in_memory() -> Opened:
    kept = MemoryResults().kept

    @asynccontextmanager
    async def opened() -> AsyncIterator[Results]:
        yield MemoryResults(kept)

    return opened


def in_a_file(path: Path) -> Opened:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Results]:
        results = FileResults(path)
        try:
            yield results
        finally:
            results.close()

    return opened


class TestResults(ResultsContract):
    @pytest.fixture(params=["memory", "file"])
    def opened(self, request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
        return in_memory() if request.param == "memory" else in_a_file(tmp_path / "results.sqlite")


async def test_an_answer_of_another_version_is_waited_with(tmp_path: Path) -> None:
    """To ask again would make another memory; to take it for none, a letter."""
    path = tmp_path / "results.sqlite"
    async with in_a_file(path)() as results:
        await results.keep(ACME, "k", result())
        with sqlite3.connect(path) as database:
            database.execute("UPDATE results SET body = replace(body, '\"schema_version\":1', '\"schema_version\":9')")
        with pytest.raises(Unavailable, match="acme/u-1 cannot be read by this version"):
            await results.get(ACME, "k")


async def test_a_disk_that_refuses_is_waited_for(tmp_path: Path) -> None:
    """To a stage it would be a bug of its own, and the turn a letter."""
    async with in_a_file(tmp_path / "results.sqlite")() as results:
        assert isinstance(results, FileResults)
        results._db.execute("PRAGMA query_only=ON")
        with pytest.raises(Unavailable, match=r"results\.sqlite cannot be read or written"):
            await results.keep(ACME, "k", result())
        results._db.execute("PRAGMA query_only=OFF")
        assert await results.keep(ACME, "k", result()) == result()


async def test_a_damaged_file_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    async with in_a_file(path)() as results:
        for number in range(50):
            await results.keep(ACME, f"k{number}", result("x" * 2000))
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(4096 * 3)  # behind the roots: it opens well
        file.write(b"\xff" * (size - 4096 * 3))
    async with in_a_file(path)() as results:
        with pytest.raises(Unavailable, match=r"results\.sqlite, .* is damaged .* backup"):
            await results.get(ACME, "k20")


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    FileResults(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version=9")
    with pytest.raises(WrongHome, match="has version 9"):
        FileResults(path)


def test_an_answer_is_on_the_disk_when_it_is_kept(tmp_path: Path) -> None:
    results = FileResults(tmp_path / "results.sqlite")
    (synchronous,) = results._db.execute("PRAGMA synchronous").fetchone()
    results.close()
    assert synchronous == 2  # FULL
