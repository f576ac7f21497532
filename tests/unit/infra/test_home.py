"""One process owns a home; the second is told who does (faults, row 9)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infra.errors import HomeBusy, HomeUnusable
from infra.home import owned, owner
from streams.journal import Journal
from streams.stopped import WrongHome

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
