"""Reindexes killed with ``kill -9`` at random moments: the same command goes on, and memory is the same after it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_killed_runs import CONVERSATION, KILLS, SPACE, printed, records, start
from tests.fakes.folders import quick_folder

NEW = "hash:512"


@pytest.fixture(scope="module")
def homes() -> Iterator[Path]:
    """A folder with a home that remembers a conversation, and room for copies."""
    with quick_folder() as folder:
        printed(folder / "home", "hash", "ingest", str(CONVERSATION), "--format", "jsonl")
        yield folder


def killed(home: Path, embedder: str, seconds: float, *arguments: str) -> None:
    process = start(home, embedder, *arguments)
    time.sleep(seconds)  # the moment itself is what is tested
    process.kill()
    process.join()


def standing(home: Path, embedder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(home, embedder, "reindex", "status", "--json").splitlines()]


def plain(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if not path.name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize(("how", "embedder"), [("--vectors", NEW), ("--derive", "hash")])
def test_kill_9_at_any_moment_of_a_reindex_changes_nothing(homes: Path, how: str, embedder: str) -> None:
    home, chance = homes / "home", random.Random(how)
    before, files = records(home, "hash"), plain(home)
    for action in (("reindex", how), ("reindex", "switch"), ("reindex", "rollback"), ("reindex", "abandon")):
        for _ in range(max(1, KILLS // 2)):
            killed(home, embedder, chance.uniform(0.1, 0.8), *action)
            assert standing(home, embedder)[0]["role"] == "reading"
        done = {one["role"]: one for one in standing(home, embedder)}
        match action[1]:
            case "switch" if "former" in done:
                continue  # it was done before it was killed
            case "rollback" if "former" not in done:
                continue
            case "abandon" if "next" not in done:
                continue
        printed(home, embedder, *action)
        assert records(home, embedder) == before
    assert records(home, "hash") == before
    assert plain(home) == files
    found = printed(home, "hash", "recall", "--space", SPACE, "--question", "Where is the ferry?", "--json")
    assert json.loads(found)["hits"]
