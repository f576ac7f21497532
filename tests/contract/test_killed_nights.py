"""Runs of consolidation killed with ``kill -9`` at random moments, with turns between them: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

from tests.contract.test_killed_runs import printed, start
from tests.fakes.command import jsonl
from tests.fakes.real_home import RealHome, said

SPACE = "acme/mia"
KILLS = int(os.environ.get("KILLS", "10"))
PETS = ("cat", "dog", "horse", "parrot", "rabbit", "goat")


def turns(first: int, count: int) -> list[bytes]:
    """Return turns that say some things again and again, and one each that nobody else says."""
    texts = [
        f"I have a {PETS[n % len(PETS)]}." if n % 4 else f"I own {n} red cars." for n in range(first, first + count)
    ]
    return [said(f"t{first + n}", text, SPACE, minutes=first + n) for n, text in enumerate(texts)]


def rows(home: Path) -> list[dict[str, Any]]:
    told = printed(home, "hash", "records", "--space", SPACE, "--json")
    return [json.loads(line) for line in told.splitlines()]


def killed(home: Path, seconds: float) -> bool:
    """Kill a run after a while; tell whether it was not over by then."""
    process = start(home, "hash", "consolidate")
    time.sleep(seconds)  # the moment itself is what is tested
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def must_lead_to_open_ones(every: list[dict[str, Any]]) -> int:
    """See that who looks for a retired record finds an open one that rests on its turns; return how many there are.

    Topics and personas are told anew from what is there, and may come to rest on less.
    """
    records = {row["id"]: row for row in every if row["row"] == "record"}
    items = {name for name, row in records.items() if row["kind"] not in {"topic", "persona"}}
    closed = {row["id"]: row for row in every if row["row"] == "closed" and row["id"] in items}
    assert {row["cause"] for row in closed.values()} == {"merge"}
    for name in closed:
        at = name
        while at in closed:
            at = closed[at]["successor"]
        assert set(records[name]["provenance"]) <= set(records[at]["provenance"])
    return len(closed)


def test_nothing_is_lost_where_nights_are_killed_and_turns_come_between(tmp_path: Path) -> None:
    home, chance = tmp_path / "home", random.Random(8)
    log, told = RealHome(home), 24
    chat = jsonl(tmp_path / "chat.jsonl", *map(json.loads, turns(0, told)))
    assert b"committed=24" in printed(home, "hash", "ingest", str(chat), "--format", "jsonl")
    began = time.monotonic()
    printed(home, "hash", "consolidate", "--dry-run")
    took, hit = time.monotonic() - began, 0
    for _ in range(KILLS):
        log.publish(turns(told, 24), SPACE)  # the next run processes them first, or is killed at it
        told += 24
        hit += killed(home, chance.uniform(0.2, 1.2) * took)
    assert hit > KILLS // 2, "most runs were over before they were killed"
    printed(home, "hash", "consolidate")
    every = rows(home)
    assert must_lead_to_open_ones(every) > len(PETS)
    assert {row["turn"]["turn_id"] for row in every if row.get("turn")} == {f"t{n}" for n in range(told)}
    assert len([row for row in every if row["row"] == "outcome" and row["event_id"].startswith("t")]) == told
    closed = {row["id"] for row in every if row["row"] == "closed"}
    items = [
        row["text"] for row in every if row["row"] == "record" and row["id"] not in closed and row.get("occurrences")
    ]
    assert len(set(items)) == len(items)
    status = json.loads(printed(home, "hash", "space", "inspect", SPACE, "--json"))
    assert status["sums"]["pending"] == status["sums"]["lettered"] == 0
    again = [json.loads(line) for line in printed(home, "hash", "consolidate", "--json").splitlines()]
    assert [(one["what"], one["events"]) for one in again] == [("space", 0)]
    assert rows(home) == every
