"""Runs killed with ``kill -9`` at random moments and restarted remember exactly what an undisturbed run does."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.fakes.forked import started

ROOT = Path(__file__).parents[2]
CONVERSATION = ROOT / "infra" / "demo" / "conversation.jsonl"
SPACE = "demo/harbour"
KILLS = int(os.environ.get("KILLS", "4"))
"""Kills a run of this test; ``make chaos KILLS=20`` for the long one."""


def environment(home: Path, embedder: str) -> dict[str, str]:
    return {"ANABRANCH_HOME": str(home), "ANABRANCH_EMBEDDER": embedder}


def start(home: Path, embedder: str, *arguments: str) -> BaseProcess:
    return started(arguments, environment(home, embedder), home.with_suffix(".out"))


def printed(home: Path, embedder: str, *arguments: str) -> bytes:
    process = start(home, embedder, *arguments)
    process.join(timeout=280)
    process.kill()  # nothing where it has ended
    assert process.exitcode == 0, (arguments, process.exitcode)
    return home.with_suffix(".out").read_bytes()


def records(home: Path, embedder: str) -> bytes:
    return printed(home, embedder, "records", "--space", SPACE, "--json")


def kill_at(home: Path, embedder: str, seconds: float, arguments: Sequence[str]) -> None:
    process = start(home, embedder, *arguments)
    while not (home / "log.sqlite").exists() and process.exitcode is None:
        time.sleep(0.01)  # what is killed before has done nothing
    time.sleep(seconds)  # the moment itself is what is tested
    process.kill()
    process.join()


@pytest.mark.parametrize("embedder", ["hash", "sentence-transformers:all-MiniLM-L6-v2"])
def test_kill_9_at_random_moments_changes_nothing(tmp_path: Path, embedder: str) -> None:
    ingest = ("ingest", str(CONVERSATION), "--format", "jsonl")
    printed(tmp_path / "calm", embedder, "--version")  # the first one waits for the imports of all
    began = time.monotonic()
    assert b"committed=120" in printed(tmp_path / "calm", embedder, *ingest)
    calm, took = records(tmp_path / "calm", embedder), time.monotonic() - began
    chance = random.Random(embedder)
    for _ in range(KILLS):  # an ingest may be killed before it has published, in the middle, or at its end
        kill_at(tmp_path / "killed", embedder, chance.uniform(0, took * 0.7), ingest)
    printed(tmp_path / "killed", embedder, *ingest)
    assert records(tmp_path / "killed", embedder) == calm
    status = printed(tmp_path / "killed", embedder, "space", "inspect", SPACE, "--json")
    assert b'"pending":0' in status.replace(b" ", b"")
