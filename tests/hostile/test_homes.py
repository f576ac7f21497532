"""A home that is none, is another's, or was made for something else; a model that is not there."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.bootstrap import open_memory
from infra.errors import HomeUnusable
from infra.home import owned
from infra.models import HashEmbedder
from infra.settings import Settings
from tests.fakes.folders import quick_folder
from tests.hostile.case import turn
from tests.hostile.command import HERE, ended, goes_on, ingest, run, start, write

ASKED = ("recall", *HERE, "--question", "crane")


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        assert ingest(made / "home", write(made / "chat.jsonl", turn("a"))).exit_code == 0
        yield made
        goes_on(made / "home", made)


PLACES = {"a file": "chat.jsonl", "under a file": "chat.jsonl/home", "a device": "/dev/null"}


@pytest.mark.parametrize("what", PLACES)
def test_home_is_no_folder(folder: Path, what: str) -> None:
    """Exit code 3 names it and the setting."""
    for arguments in (ASKED, ("ingest", str(folder / "chat.jsonl"), "--format", "jsonl"), ("letters", "list")):
        refused = run(folder / PLACES[what], *arguments)
        told = refused.stderr.replace("\n", "")
        assert (refused.exit_code, refused.stdout) == (3, "")
        assert str(folder / PLACES[what]) in told
        assert "ANABRANCH_HOME" in told


@pytest.mark.parametrize("name", ["log.sqlite", "index", "lock"])
def test_something_else_stands_where_a_file_of_the_home_belongs(folder: Path, name: str) -> None:
    """Exit code 3 names it."""
    other = folder / "other"
    other.mkdir()
    if name == "index":
        (other / name).touch()
    else:
        (other / name).mkdir()
    refused = ingest(other, folder / "chat.jsonl")
    assert refused.exit_code == 3
    assert str(other) in refused.stderr.replace("\n", "")


def test_log_is_damaged(folder: Path) -> None:
    """Exit code 3 says that it is damaged and what can be done; a file that is no database too."""
    other = folder / "other"
    other.mkdir()
    (other / "log.sqlite").write_bytes(b"not a database, at any length " * 200)
    refused = run(other, *ASKED)
    assert refused.exit_code == 3
    assert "log.sqlite" in refused.stderr
    assert "restore it from a backup" in " ".join(refused.stderr.split())


def test_second_process_on_a_home(folder: Path) -> None:
    """Exit code 3 names the process that owns it; when that one ends the home is free."""
    with owned(folder / "home"):
        code, out, err = ended(start(folder / "home", "turns", *HERE))
    assert (code, out) == (3, "")
    assert f"in use by process {os.getpid()}" in " ".join(err.split())


def test_home_of_another_version(folder: Path) -> None:
    """Exit code 3 names both versions."""
    database = sqlite3.connect(folder / "home" / "log.sqlite", isolation_level=None)
    database.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
    refused = run(folder / "home", *ASKED)
    database.execute("UPDATE meta SET value = '2' WHERE name = 'version'")
    database.close()
    told = " ".join(refused.stderr.split())
    assert (refused.exit_code, "'99'" in told, "'2'" in told, "ANABRANCH_HOME" in told) == (3, True, True, True)


def test_model_is_missing(folder: Path) -> None:
    """Exit code 3 says what brings it; the turns are in the log, and the next run with a model goes on."""
    home = folder / "new"
    file = str(folder / "chat.jsonl")
    code, out, err = ended(start(home, "ingest", file, "--format", "jsonl", embedder="sentence-transformers:/no/such"))
    assert (code, out.endswith("pending=1\n")) == (3, True)
    assert "the model /no/such is missing: there is no such folder" in err
    assert "To bring it: copy the model there, or correct ANABRANCH_EMBEDDER" in err
    assert "Traceback" not in err
    again = ingest(home, folder / "chat.jsonl")
    assert (again.exit_code, "duplicates=1" in again.stdout) == (0, True)
    goes_on(home, folder)


@dataclass(frozen=True)
class Other(HashEmbedder):
    """An embedder of another name or dimension."""

    name: str = "hash@9"
    size: int = 16

    @property
    def model(self) -> str:
        return self.name

    @property
    def dimension(self) -> int:
        return self.size


async def opened(home: Path, embedder: HashEmbedder) -> None:
    async with open_memory(Settings(home=home), embedder=embedder) as memory:
        await memory.context(HERE[1], None, 1)  # type: ignore[arg-type]  # it is refused before it is looked at


@pytest.mark.parametrize(
    ("embedder", "named"),
    [
        (Other(), [HashEmbedder().model, "hash@9", "ANABRANCH_EMBEDDER"]),
        (Other(name=HashEmbedder().model), ["dimension 384", "dimension 16", "ANABRANCH_EMBEDDER"]),
    ],
    ids=["another model", "another dimension"],
)
def test_embedder_is_another(folder: Path, embedder: HashEmbedder, named: list[str]) -> None:
    """Refused (exit code 3) with the names of both, and what to do; the home stays as it is."""
    with pytest.raises(HomeUnusable) as refused:
        asyncio.run(opened(folder / "home", embedder))
    assert [word for word in named if word not in str(refused.value)] == []
    assert refused.value.exit_code == 3
