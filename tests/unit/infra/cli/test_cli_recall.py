"""``recall`` and ``context``: a line a question, points in time, and how stale an answer is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.command import SPACE, Cli, jsonl, line, objects
from tests.fakes.memory import FakeMemory


def test_recall_prints_a_line_a_question(filled: Cli, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "q.jsonl", {"id": 7, "question": "What about the kitchen floor?", "evidence": ["t1"]},
                 {"id": "b", "question": "bicycle", "asker": "mia", "asked_at": "2026-04-01T00:00:00Z"})  # fmt: skip
    first, second = objects(filled("recall", "--space", SPACE, "--questions", str(path), "--k", "2", "--json"))
    assert set(first) == {"id", "hits", "stale", "behind", "took_ms"}
    assert (first["id"], second["id"]) == (7, "b")
    assert [hit["turn_ids"] for hit in first["hits"]] == [["t1"], ["t3"]]
    assert set(first["hits"][0]) == {"record_id", "kind", "turn_ids", "speaker", "at", "text", "score", "why"}
    assert first["hits"][0]["speaker"] == "Mia"
    assert second["hits"][0]["why"] == {"words": 1.0}


def test_recall_for_people_is_a_table_without_colours_where_there_is_no_terminal(filled: Cli) -> None:
    result = filled("recall", "--space", SPACE, "--question", "kitchen floor")
    assert result.exit_code == 0
    assert "t1" in result.stdout
    assert "2026-03-01 18:01 +0100" in result.stdout
    assert "The kitchen floor gave way under the fridge." in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("as_of", "found"),
    [
        ("turn:t1", ["t1"]),
        ("position:1", ["t1"]),
        ("position:2", ["t1", "t3"]),
        ("time:2026-03-01T17:02:59Z", ["t1"]),
        ("time:2026-03-01T18:03:00+01:00", ["t1", "t3"]),
        ("time:2020-01-01T00:00:00Z", []),
    ],
)
def test_as_of_is_a_turn_a_time_or_a_position(filled: Cli, as_of: str, found: list[str]) -> None:
    (answer,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--as-of", as_of, "--json"))
    assert sorted(turn for hit in answer["hits"] for turn in hit["turn_ids"]) == found


def test_no_wait_looks_at_once_and_says_how_stale(filled: Cli, memory: FakeMemory) -> None:
    memory.log.append((SPACE, json.dumps(line("t4", "more floor")).encode()))
    (stale,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--no-wait", "--json"))
    (fresh,) = objects(filled("recall", "--space", SPACE, "--question", "floor", "--json"))
    assert (stale["stale"], stale["behind"], len(stale["hits"])) == (True, 1, 2)
    assert (fresh["stale"], fresh["behind"], len(fresh["hits"])) == (False, 0, 3)


def test_context_prints_the_bundle(filled: Cli, tmp_path: Path) -> None:
    (one,) = objects(filled("context", "--space", SPACE, "--text", "And then?", "--speaker", "mia", "--json"))
    assert set(one) == {"placement", "lines", "tokens"}
    assert one["placement"] == {
        "turn_id": None, "parent_turn_id": "t3", "other_parents": [], "rule": "ranked", "score": 7, "runners_up": []
    }  # fmt: skip
    assert set(one["lines"][0]) == {"part", "turn_ids", "at", "text", "tokens"}
    path = jsonl(
        tmp_path / "i.jsonl", {"id": "a", "text": "And?"}, {"id": "b", "text": "So?", "at": "2026-04-01T00:00:00Z"}
    )
    lines = objects(filled("context", "--space", SPACE, "--inputs", str(path), "--json"))
    assert [bundle["id"] for bundle in lines] == ["a", "b"]
    assert "continues t3 (ranked)" in filled("context", "--space", SPACE, "--text", "And then?").stdout
