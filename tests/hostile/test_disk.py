"""A disk that is full, limited or read-only: a message that names the home, nothing half written, and a way on."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.qdrant.room import room_to_open, room_to_write
from stages.contract import Unavailable
from tests.fakes.folders import quick_folder
from tests.hostile.case import turn
from tests.hostile.command import HERE, ROOT, goes_on, ingest, run, write
from tests.hostile.namespace import alone

FIRST = [turn(f"a{number}", f"The crane lifted crate number {number * 7919}.") for number in range(20)]
SECOND = [turn(f"b{number}", f"The tug pulled barge number {number * 7907}. " * 20) for number in range(40)]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts and limits as Linux has them")


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        write(made / "chat.jsonl", *FIRST)
        write(made / "more.jsonl", *SECOND)
        yield made


@pytest.fixture(scope="module")
def calm() -> Iterator[str]:
    with quick_folder() as made:
        for events in (FIRST, SECOND):
            assert ingest(made / "home", write(made / "chat.jsonl", *events)).exit_code == 0
        yield run(made / "home", "records", *HERE, "--json").stdout


DISK = """
truncate -s {size}M image
mkfs.ext4 -q -F -m 0 -O ^has_journal image
mount -o loop image disk
"""
"""A small disk. Not in memory: there a file's holes take room as soon as they are read."""

FULL = """
def fill(left):
    stat = os.statvfs(folder / "disk")
    with (folder / "disk" / "filler").open("ab") as filler:
        os.posix_fallocate(filler.fileno(), 0, filler.tell() + stat.f_bavail * stat.f_frsize - (left << 20))

steps = [told(ingest(home, file))]
fill(8)
steps.append(told(ingest(home, more)))
fill(0)
steps += [told(run(home, "turns", *HERE)), told(ingest(home, file))]
(folder / "disk" / "filler").unlink()
steps += [told(run(home, "records", *HERE, "--json")), told(ingest(home, more))]
print(json.dumps(steps))
"""


def test_disk_is_full(folder: Path, calm: str) -> None:
    """Exit code 3 names the home and what to do, before the engine writes (it would be killed by SIGBUS); when there is
    room again the next run goes on, and memory is equal byte for byte."""
    first, nearly, looked, wrote, after, again = alone(DISK.format(size=48), FULL, folder)
    assert first[0] == 0
    assert nearly[0] == 3
    assert nearly[1].endswith("committed=0 lettered=0 duplicates=0 forgotten=0 pending=40\n")
    for word in (str(folder / "disk" / "home"), "nearly full", "make room there, then run again", "nothing is lost"):
        assert word in nearly[2]
    for full in (looked, wrote):
        assert (full[0], str(folder / "disk" / "home") in full[2], "run again" in full[2]) == (3, True, True)
    assert after[:2] == [0, calm]
    assert (again[0], "duplicates=40" in again[1]) == (0, True)


NO_ROOM = """
print(json.dumps([told(ingest(home, file)), told(run(home, "space", "inspect", HERE[1], "--no-wait", "--json"))]))
"""


def test_disk_is_too_small_for_an_index(folder: Path) -> None:
    """Exit code 3 before anything of the index is made; the turns are in the log."""
    refused, status = alone(DISK.format(size=3), NO_ROOM, folder)
    assert (refused[0], "nearly full" in refused[2]) == (3, True)
    assert '"pending":20' in status[1]


def test_room_is_asked_for_by_the_size_of_a_write(tmp_path: Path) -> None:
    """A write of many rows asks for more; the folder need not be there yet."""
    room_to_open(tmp_path / "not" / "yet")
    room_to_write(tmp_path / "not" / "yet", 1)
    with pytest.raises(Unavailable, match="nearly full"):
        room_to_write(tmp_path / "not" / "yet", 1 << 50)


READ_ONLY = """
steps = [told(run(home, "recall", *HERE, "--question", "crane")), told(ingest(home, more)), told(run(home, "doctor"))]
print(json.dumps(steps))
"""


def test_home_is_on_a_disk_that_is_mounted_read_only(folder: Path) -> None:
    """Exit code 3 names the home and another way; nothing in it is changed."""
    assert ingest(folder / "home", folder / "chat.jsonl").exit_code == 0
    before = run(folder / "home", "records", *HERE, "--json").stdout
    mount = "mount --bind . disk && mount -o remount,bind,ro disk"
    recalled, wrote, looked = alone(mount, READ_ONLY, folder)
    for refused in (recalled, wrote):
        assert refused[0] == 3
        assert "Read-only file system" in refused[2]
        assert "ANABRANCH_HOME" in refused[2]
    assert (looked[0], "Read-only file system" in looked[1]) == (3, True)
    assert run(folder / "home", "records", *HERE, "--json").stdout == before
    goes_on(folder / "home", folder)


LIMITED = """
import sys
from pathlib import Path
from tests.hostile.command import ingest
done = ingest(Path(sys.argv[1]), Path(sys.argv[2]))
sys.stderr.write(done.stderr)
sys.exit(done.exit_code)
"""


@pytest.mark.parametrize(("limit", "told"), [(48 << 10, "log.sqlite"), (8 << 20, "index")])
def test_files_may_not_grow(folder: Path, calm: str, limit: int, told: str) -> None:
    """A limit that the log meets, or the index: exit code 3 names it; without the limit the next run goes on."""

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    home = folder / "home"
    command = [sys.executable, "-c", LIMITED, str(home), str(folder / "chat.jsonl")]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=limited,
    )
    message = " ".join(done.stderr.split())
    assert done.returncode == 3
    assert str(home) in message.replace(" ", "")
    assert told in message
    assert "nothing is lost" in message
    for events in (FIRST, SECOND):
        assert ingest(home, write(folder / "again.jsonl", *events)).exit_code == 0
    assert run(home, "records", *HERE, "--json").stdout == calm
