"""SIGTERM does what Ctrl-C does: the command closes what it opened and says that the next run goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = """
import sys, time
from pathlib import Path
from contextlib import asynccontextmanager
from infra.cli.app import app
from infra.cli.session import Session
from infra.settings import Settings
from tests.fakes.memory import FakeMemory

memory = FakeMemory()

def pause():
    if memory.done == 1:
        print("working", flush=True)
    time.sleep(0.01)

memory.pause = pause

@asynccontextmanager
async def opened(settings, *, wait, progress):
    try:
        async with memory.open(settings, wait=wait, progress=progress) as one:
            yield one
    finally:
        print("closed", flush=True)

app(sys.argv[1:], obj=Session(settings=lambda: Settings(home=Path("unused"), embedder="hash"), opener=lambda: opened))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to handle")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_cleanly(tmp_path: Path, sent: signal.Signals) -> None:
    turn = {"space": "a/b", "speaker": {"id": "x"}, "text": "hello", "at": "2026-01-01T00:00:00Z"}
    lines = (json.dumps(turn | {"turn_id": str(n)}) for n in range(20_000))
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    command = [sys.executable, "-c", SCRIPT, "ingest", str(tmp_path / "many.jsonl"), "--format", "jsonl"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "closed\n")
    assert "the next run goes on" in err
    assert "Traceback" not in err
