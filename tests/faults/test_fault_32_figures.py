"""Elsewhere: benchmark figures nobody can repeat."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from infra.models import HashEmbedder
from tests.faults.user import cli

SAID = [
    ("Ada", "I planted three quince trees behind the shed."),
    ("Bob", "My kayak has a hole again."),
    ("Ada", "The quinces will need five years."),
    ("Bob", "I mended the kayak with tar from Olga."),
    ("Ada", "Olga moved to the lighthouse in spring."),
    ("Bob", "The lighthouse keeper sings at night."),
    ("Ada", "I bought an accordion for his songs."),
    ("Bob", "We leave on Sunday if the wind allows."),
]
ASKED = [
    ("What did Ada plant behind the shed?", 4, ["D1:1"]),
    ("What did Bob mend, and with what?", 1, ["D1:4"]),
    ("Where did Olga move?", 2, ["D1:5"]),
]


def locomo(path: Path, *more: tuple[str, str]) -> str:
    """Write a set of LoCoMo's shape, of our own words."""
    turns = [{"speaker": who, "dia_id": f"D1:{n}", "text": text} for n, (who, text) in enumerate([*SAID, *more], 1)]
    conversation = {
        "speaker_a": "Ada",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
    }
    questions = [{"question": asked, "category": kind, "evidence": ids, "answer": "-"} for asked, kind, ids in ASKED]
    path.write_text(json.dumps([{"sample_id": "ours", "conversation": conversation, "qa": questions}]))
    return str(path)


def beam(path: Path) -> str:
    """Write a chat of BEAM's shape, of our own words."""
    messages = [
        {"id": n, "role": "assistant" if n % 2 else "user", "content": text, "time_anchor": "March-15-2024"}
        for n, (_, text) in enumerate(SAID)
    ]
    probes = [{"question": asked, "source_chat_ids": [int(ids[0][3:]) - 1]} for asked, _, ids in ASKED]
    chat = {"chat_id": "ours", "chat": [{"turns": [messages]}], "probing_questions": {"information_extraction": probes}}
    path.write_text(json.dumps(chat))
    return str(path)


WRITE = {"locomo": locomo, "beam": beam}


def ran(tmp_path: Path, kind: str, path: str) -> tuple[Result, list[dict[str, Any]]]:
    """Run a benchmark and return what it printed and its raw answers."""
    raw = tmp_path / "raw.jsonl"
    result = cli(tmp_path / "home", "bench", kind, path, "--raw", str(raw))
    assert result.exit_code == 0, result.output
    return result, [json.loads(line) for line in raw.read_text().splitlines()]


def figures(result: Result) -> str:
    """Return what a benchmark printed, without its measurements of time."""
    return "\n".join(line for line in result.stdout.splitlines() if " ms" not in line)


@pytest.mark.parametrize("kind", WRITE)
def test_fault_32_beside_every_figure_stand_data_model_version_sums_and_baselines(tmp_path: Path, kind: str) -> None:
    path = WRITE[kind](tmp_path / f"{kind}.json")
    result, _ = ran(tmp_path, kind, path)
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    for told in (
        f"data {kind}.json sha256 {digest[:16]}",
        f"model {HashEmbedder().model}",
        "published=8 committed=8 lettered=0 duplicates=0 forgotten=0 pending=0",
        "recent turns",
        "BM25",
        "dense",
        "anabranch",
    ):
        assert told in result.stdout
    assert re.search(r"anabranch \d+\.\d+", result.stdout)


@pytest.mark.parametrize("kind", WRITE)
def test_fault_32_the_raw_answers_give_the_figures_again(tmp_path: Path, kind: str) -> None:
    path = WRITE[kind](tmp_path / f"{kind}.json")
    result, raw = ran(tmp_path, kind, path)
    assert [one["question"] for one in raw] == [asked for asked, _, _ in ASKED]
    assert all(one["hits"] and one["evidence"] and one["space"] == f"{kind}/ours" for one in raw)
    found = [_found(one) for one in raw]
    shown = f"{100 * sum(found) / len(found):.1f}"
    group = "all" if kind == "locomo" else "information_extraction"
    (line,) = [line for line in result.stdout.splitlines() if re.match(rf"\W*{group}\b", line)]
    assert re.findall(r"\d+\.\d|\d+", line)[:2] == [str(len(raw)), shown]


def _found(one: dict[str, Any]) -> float:
    """Return the share of the evidence among the first ten distinct turns of a raw answer."""
    cited = list(dict.fromkeys(turn_id for hit in one["hits"] for turn_id in hit["turn_ids"]))[:10]
    return len(set(cited) & set(one["evidence"])) / len(one["evidence"])


def test_fault_32_the_same_data_gives_the_same_figures_and_other_data_another_digest(tmp_path: Path) -> None:
    path = locomo(tmp_path / "set.json")
    (first, answers), (second, again) = (ran(tmp_path, "locomo", path) for _ in range(2))
    assert figures(first) == figures(second)
    timeless = [[{k: v for k, v in one.items() if k != "took_ms"} for one in every] for every in (answers, again)]
    assert timeless[0] == timeless[1]
    other, _ = ran(tmp_path, "locomo", locomo(tmp_path / "set.json", ("Bob", "The moon is up.")))
    digests = [re.findall(r"sha256 (\w+)", result.stdout) for result in (first, other)]
    assert digests[0] != digests[1]


def test_fault_32_a_benchmark_leaves_the_users_own_memory_alone(tmp_path: Path) -> None:
    ran(tmp_path, "locomo", locomo(tmp_path / "set.json"))
    assert not (tmp_path / "home").exists()
