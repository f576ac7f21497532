"""A file system of one's own: a child process that mounts, and takes the mount with it when it ends."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.command import ROOT

BEGIN = """
import json, os, sys
from pathlib import Path
from tests.hostile.command import HERE, ingest, run, write

folder = Path(sys.argv[1])
home, file, more = folder / "disk" / "home", folder / "chat.jsonl", folder / "more.jsonl"

def told(result):
    return [result.exit_code, result.stdout, " ".join(result.stderr.split())]
"""


def alone(mount: str, script: str, folder: Path) -> Any:
    """Run a shell's ``mount`` in ``folder`` and then a script, and return the JSON that it printed.

    Skips where this environment cannot mount, and says so.
    """
    if shutil.which("unshare") is None:
        pytest.skip("this environment has no `unshare`, which mounts for one process alone")
    (folder / "disk").mkdir()
    can = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", mount], cwd=folder, capture_output=True, text=True, check=False
    )
    if can.returncode != 0:
        pytest.skip(f"this environment cannot mount a file system of its own: {can.stderr.strip()}")
    command = f'{mount}\ncd "$1"\nexec "$2" -c "$3" "$4"'
    arguments = [str(ROOT), sys.executable, BEGIN + script, str(folder)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", command, "sh", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
