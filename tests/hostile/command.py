"""The real command line on a real home: in this process, or in one of its own that can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.settings import Settings
from tests.hostile.case import SPACE

ROOT = Path(__file__).parents[2]
HERE = ("--space", SPACE)


def run(home: Path, *arguments: str) -> Result:
    """Run a command in this process; what it raises beyond exit codes is raised here."""
    session = Session(settings=lambda: Settings(home=home, embedder="hash"))
    result = CliRunner().invoke(app, list(arguments), obj=session)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def start(home: Path, *arguments: str, embedder: str = "hash", script: str = "") -> subprocess.Popen[str]:
    """Start a command in a process of its own; ``script`` is run before it."""
    code = f"{script}\nfrom infra.cli.app import main\nmain()"
    environment = os.environ | {"ANABRANCH_HOME": str(home), "ANABRANCH_EMBEDDER": embedder, "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return exit code, output and messages of a process when it has ended."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def write(path: Path, *events: bytes) -> Path:
    """Write a JSON-lines file and return its path."""
    path.write_bytes(b"".join(event + b"\n" for event in events))
    return path


def lines(result: Result) -> list[Any]:
    """Return what a command printed as JSON lines."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.split("\n") if line]


def ingest(home: Path, path: Path, *more: str) -> Result:
    """Ingest a JSON-lines file."""
    return run(home, "ingest", str(path), "--format", "jsonl", *more)


def goes_on(home: Path, folder: Path) -> None:
    """An ordinary turn goes in and is found, by commands of their own."""
    event = {
        "space": SPACE,
        "turn_id": "ordinary",
        "speaker": {"id": "mia"},
        "text": "My sister keeps bees on the roof of the lighthouse.",
        "at": "2026-03-02T18:00:00Z",
    }
    done = ingest(home, write(folder / "ordinary.jsonl", json.dumps(event).encode()))
    assert (done.exit_code, "committed=1" in done.stdout, "pending=0" in done.stdout) == (0, True, True), done.output
    (found,) = lines(run(home, "recall", *HERE, "--question", "Who keeps bees?", "--json"))
    assert found["hits"][0]["turn_ids"] == ["ordinary"]
