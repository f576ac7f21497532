"""Runs killed with ``kill -9`` at random moments and restarted remember exactly what an undisturbed run does."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONVERSATION = ROOT / "infra" / "demo" / "conversation.jsonl"
SPACE = "demo/harbour"
KILLS = int(os.environ.get("KILLS", "4"))
"""Kills a run of this test; ``make chaos KILLS=20`` for the long one."""


def environment(home: Path, embedder: str) -> dict[str, str]:
    return os.environ | {"ANABRANCH_HOME": str(home), "ANABRANCH_EMBEDDER": embedder, "HF_HUB_OFFLINE": "1"}


def start(home: Path, embedder: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "infra.cli", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(home, embedder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def printed(home: Path, embedder: str, *arguments: str) -> bytes:
    process = start(home, embedder, *arguments)
    out, _ = process.communicate(timeout=280)
    assert process.returncode == 0, (arguments, process.returncode)
    return out


def records(home: Path, embedder: str) -> bytes:
    return printed(home, embedder, "records", "--space", SPACE, "--json")


def kill_at(home: Path, embedder: str, seconds: float, arguments: Sequence[str]) -> None:
    process = start(home, embedder, *arguments)
    while not (home / "log.sqlite").exists() and process.poll() is None:
        time.sleep(0.01)  # what is killed before has done nothing
    time.sleep(seconds)  # the moment itself is what is tested
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("embedder", ["hash", "sentence-transformers:all-MiniLM-L6-v2"])
def test_kill_9_at_random_moments_changes_nothing(tmp_path: Path, embedder: str) -> None:
    began = time.monotonic()
    ingest = ("ingest", str(CONVERSATION), "--format", "jsonl")
    assert b"committed=120" in printed(tmp_path / "calm", embedder, *ingest)
    calm, took = records(tmp_path / "calm", embedder), time.monotonic() - began
    chance = random.Random(embedder)
    for _ in range(KILLS):  # an ingest may be killed before it has published, in the middle, or at its end
        kill_at(tmp_path / "killed", embedder, chance.uniform(0, took * 0.7), ingest)
    printed(tmp_path / "killed", embedder, *ingest)
    assert records(tmp_path / "killed", embedder) == calm
    status = printed(tmp_path / "killed", embedder, "space", "inspect", SPACE, "--json")
    assert b'"pending":0' in status.replace(b" ", b"")
