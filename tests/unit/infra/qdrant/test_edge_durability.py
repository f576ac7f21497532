"""What a returned write promises, when the process is killed, the engine fails, or several write at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from infra.qdrant import EdgeIndex
from infra.qdrant.shard import Shard
from schemas.memory import OPEN, RecordKind
from schemas.space import Space
from stages.contract import Unavailable
from stages.ports import Filter
from tests.fakes.folders import quick_folder
from tests.fakes.index_rows import closed, event, record
from tests.fakes.index_writer import EVERY, SPACES, made, opened, rows, vector

ROOT = Path(__file__).parents[4]
ROUNDS = 5
BOTH = frozenset({RecordKind.TURN, RecordKind.FACT})


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made_folder:
        yield made_folder / "index"


def _killed_writer(folder: Path, after_s: float) -> dict[str, int]:
    """Run the writer, kill it some time after its first write, and return the last position it said was written."""
    command = [sys.executable, "-m", "tests.fakes.index_writer", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(after_s)  # the moment of the kill is what is tested
        process.kill()
        said += process.stdout.read()
    lines = [line.split() for line in said.splitlines() if len(line.split()) == 2]
    return {space: int(position) for space, position in lines}


async def test_after_a_kill_every_returned_write_is_there_and_the_watermark_names_no_missing_record(
    tmp_path: Path,
) -> None:
    """On a real disk, where a flush takes long enough to be hit by the kill."""
    for moment_s in np.random.default_rng(11).uniform(0.0, 0.5, ROUNDS):
        returned = _killed_writer(tmp_path / "index", moment_s)
        assert returned
        index = opened(tmp_path / "index")
        for space in SPACES:
            watermark = await index.watermark(space)
            assert watermark >= returned.get(space, -1)
            await _check(index, space, watermark)
        await index.close()


async def _check(index: EdgeIndex, space: Space, watermark: int) -> None:
    expected = [row for position in range(watermark + 1) for row in rows(space, position)]
    found = await index.fetch(space, watermark, [row.id for row in expected])
    assert [hit.record for hit in found] == expected
    for hit in found:
        closes = hit.record.since + 1
        is_closed = hit.record.kind is RecordKind.FACT and closes % EVERY == 1 and closes <= watermark
        assert hit.until == (closes if is_closed else OPEN)
    where = Filter(space, watermark, BOTH, closed_too=True)
    for row in expected[-4:]:
        [near] = await index.nearest(where, [vector(row)], 2)
        assert {hit.record.since for hit in near} == {row.since}
        assert row.id in {
            hit.record.id for [*hits] in await index.lexical(where, [[str(row.since)]], 4) for hit in hits
        }


async def test_a_write_that_broke_off_is_written_again_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = SPACES[0]
    index = opened(folder)
    await index.write(space, [made(space, 0)])
    await index.lexical(Filter(space, 9, BOTH), [["turn"]], 1)  # the space is in memory
    with monkeypatch.context() as broken:
        broken.setattr(Shard, "flush", _fails)
        with pytest.raises(Unavailable, match="disk"):
            await index.write(space, [made(space, 1), made(space, 2)])
    assert await index.watermark(space) == 0
    await index.write(space, [made(space, 1), made(space, 2)])
    await _check(index, space, 2)
    [seen] = await index.lexical(Filter(space, 9, BOTH), [["2"]], 9)
    await index.close()
    index = opened(folder)
    assert await index.lexical(Filter(space, 9, BOTH), [["2"]], 9) == [seen]
    await index.close()


def _fails(_shard: Shard) -> None:
    msg = "the disk is full"
    raise Unavailable(msg)


async def test_writers_that_wait_together_share_a_flush(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(folder)
    flushes: list[Shard] = []
    flush = Shard.flush

    def counted(shard: Shard) -> None:
        flushes.append(shard)
        flush(shard)

    monkeypatch.setattr(Shard, "flush", counted)
    many = [Space(f"acme/{n}") for n in range(20)]
    await asyncio.gather(*(index.write(space, [event(space, 0, [record(space, 0)])]) for space in many))
    assert [await index.watermark(space) for space in many] == [0] * 20
    assert len(flushes) <= 3
    await index.close()


async def test_an_engine_that_fails_is_unavailable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(folder)
    shard = index._shard.must_be_open()
    shard.close()  # behind the adapter's back
    with pytest.raises(Unavailable, match="does not answer"):
        await index.matching(Filter(SPACES[0], 0, BOTH), 1)
    with pytest.raises(Unavailable, match="does not answer"):
        await index.write(SPACES[0], [made(SPACES[0], 0)])
    assert await index.watermark(SPACES[0]) == -1


async def test_an_update_that_the_engine_passes_over_is_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does with a point whose version is above the operation's number."""
    space = SPACES[0]
    index = opened(folder)
    await index.write(space, [made(space, 0)])
    with monkeypatch.context() as deaf:
        deaf.setattr(Shard, "update", lambda _shard, _operation: None)
        for unheard in ([made(space, 1)], [event(space, 1, made(space, 1).rows[-1:])]):
            with pytest.raises(Unavailable, match="passed over"):
                await index.write(space, unheard)
    assert await index.watermark(space) == 0
    await index.write(space, [made(space, 1)])
    await _check(index, space, 1)
    await index.close()


async def test_a_kill_between_versions_and_segment_state_swallows_no_update(folder: Path) -> None:
    """The files of a flush that was broken off: all new but the segment's own state, which counts the operations."""
    space = SPACES[0]
    index = opened(folder)
    await index.write(space, [made(space, 0)])
    states = {path: path.read_bytes() for path in (folder / "shard").rglob("segment.json")}
    assert states
    for position in range(1, 9):
        await index.write(space, [made(space, position)])
    await index.close()
    for path, old in states.items():
        path.write_bytes(old)
    index = opened(folder)
    await index.write(space, [event(space, 9, [closed(row, 9) for row in rows(space, 8)])])
    assert [hit.until for hit in await index.fetch(space, 9, [row.id for row in rows(space, 8)])] == [9, 9]
    await index.close()
