"""Elsewhere: a failed flush leaves recall empty for ever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra import embedded_plane
from infra.errors import HomeUnusable
from infra.qdrant.shard import Shard
from infra.qdrant.watermarks import Watermarks
from stages.contract import Unavailable
from streams.patience import Patience
from tests.fakes.runtime import Died
from tests.faults.user import SPACE, cited, cli, lived, opened, printed, rows, tell, turn

TALK = [
    turn("m1", "I live in Oslo."),
    turn("m2", "The electrician comes on Thursday."),
    turn("m3", "No, I said Tuesday."),
]
ASKED = "When does the electrician come?"


class Breaks:
    """Lets calls of a method of the index fail: the first ``times`` of them, at its beginning or when it is done."""

    def __init__(self, error: BaseException, times: int, *, late: bool = False) -> None:
        self.error, self.left, self.late = error, times, late

    def install(self, patch: pytest.MonkeyPatch, where: type, name: str) -> None:
        method = getattr(where, name)

        def broken(index: object, *given: object) -> object:
            fails, self.left = self.left > 0, self.left - 1
            answer = method(index, *given) if self.late or not fails else None
            if fails:
                raise self.error
            return answer

        patch.setattr(where, name, broken)


FULL = Unavailable("the disk is full")
PLACES = [(Shard, "update"), (Shard, "flush"), (Watermarks, "rise")]


async def found_again(home: Path, calm: list[str]) -> None:
    """Hold a home to the memory of one that nothing happened to."""
    async with opened(home) as memory:
        assert rows(memory) == calm
        assert (await cited(memory, ASKED))[0] == "m3"
        assert await cited(memory, "Where does Mia live?")
        assert memory.sums().pending == 0


@pytest.mark.parametrize(("where", "name"), PLACES, ids=[name for _, name in PLACES])
async def test_fault_28_a_write_of_the_index_that_fails_once_is_done_again(
    home: Path, second: Path, where: type, name: str
) -> None:
    calm = await lived(second, *TALK)
    with pytest.MonkeyPatch.context() as patch:
        Breaks(FULL, 1).install(patch, where, name)
        assert await lived(home, *TALK) == calm
    await found_again(home, calm)


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("where", "name"), PLACES, ids=[name for _, name in PLACES])
async def test_fault_28_a_process_that_dies_at_a_write_of_the_index_leaves_recall_working(
    home: Path, second: Path, where: type, name: str, *, late: bool
) -> None:
    calm = await lived(second, *TALK)
    await lived(home, TALK[0])
    with pytest.MonkeyPatch.context() as patch:
        Breaks(Died(), 1, late=late).install(patch, where, name)
        with pytest.raises(Died):
            await lived(home, *TALK[1:])
    async with opened(home, wait=False) as memory:
        assert "m1" in await cited(memory, "Where does Mia live?")
    await found_again(home, calm)


async def test_fault_28_while_the_index_fails_the_command_says_so_and_the_next_one_catches_up(
    home: Path, second: Path
) -> None:
    calm = await lived(second, *TALK)
    async with opened(home, wait=False) as memory:
        await memory.publish(SPACE, TALK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_plane, "PATIENCE", Patience(tries=2, first=0.001))
        Breaks(FULL, 99).install(patch, Shard, "flush")
        failed = cli(home, "recall", "--space", SPACE, "--question", ASKED)
    assert failed.exit_code == 3
    assert "disk is full" in failed.stderr
    (found,) = printed(home, "recall", "--space", SPACE, "--question", ASKED)
    assert found["hits"][0]["turn_ids"] == ["m3", "m2"]  # a correction, and what it quotes
    await found_again(home, calm)


async def test_fault_28_an_index_that_lost_what_memory_holds_is_refused_and_not_empty(home: Path) -> None:
    """As a folder that was not restored with the rest, or a disk that forgot a flush."""
    await lived(home, *TALK)
    whole = home.with_name("whole")
    shutil.copytree(home / "index", whole)
    shutil.rmtree(home / "index")
    refused = cli(home, "recall", "--space", SPACE, "--question", ASKED)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert str(SPACE) in refused.stderr
    with pytest.raises(HomeUnusable, match="backup"):
        async with opened(home) as memory:
            await tell(memory, turn("m4", "The tram was late."))
    checked = {one["name"]: one for one in printed(home, "doctor", code=3)}
    assert checked["index"]["verdict"] == "wrong"
    assert str(SPACE) in checked["index"]["found"]
    shutil.rmtree(home / "index", ignore_errors=True)
    whole.rename(home / "index")
    async with opened(home) as memory:
        assert (await cited(memory, ASKED))[0] == "m3"


async def test_fault_28_doctor_writes_a_record_and_reads_it_again(home: Path) -> None:
    await lived(home, *TALK)
    before = files(home)
    checked = {one["name"]: one for one in printed(home, "doctor")}
    assert checked["index"]["verdict"] == "ok"
    assert files(home) == before


def files(home: Path) -> dict[str, bytes]:
    """Return the files of a home and of the folder around it; SQLite makes its own beside a file that is read."""
    there = [path for path in home.parent.rglob("*") if path.is_file() and path.suffix[-4:] not in {"-shm", "-wal"}]
    return {str(path): path.read_bytes() for path in there}


@pytest.mark.parametrize(
    ("where", "name", "told"),
    [
        (Shard, "flush", "disk is full"),
        (Shard, "update", "disk is full"),
        (Shard, "query", "disk is full"),
        (Watermarks, "rise", "disk is full"),
    ],
    ids=["flush", "update", "query", "rise"],
)
def test_fault_28_doctor_says_what_of_the_index_does_not_work(
    home: Path, where: type, name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Breaks(FULL, 99).install(monkeypatch, where, name)
    checked = {one["name"]: one for one in printed(home, "doctor", code=3)}
    assert checked["index"]["verdict"] == "wrong"
    assert told in checked["index"]["found"]
    assert checked["index"]["advice"]
    assert not list(home.parent.glob(".anabranch-doctor-*"))


@pytest.mark.parametrize(
    ("where", "name", "silent", "told"),
    [
        (Watermarks, "rise", lambda *_given: None, "watermark"),
        (Shard, "query", lambda _shard, _where, queries, _limit: [[] for _ in queries], "not found by its vector"),
        (Shard, "all", lambda *_given: iter(()), "which is none of the space's"),
    ],
    ids=["watermark", "search", "reading whole spaces"],
)
def test_fault_28_doctor_notices_an_index_that_forgets_without_a_word(
    home: Path, where: type, name: str, silent: object, *, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, silent)
    checked = {one["name"]: one for one in printed(home, "doctor", code=3)}
    assert told in checked["index"]["found"]
