"""``bench consolidation`` on talks of our own: what it asks, what it promises, and that a broken promise is said."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from infra.bench import nights_run
from infra.bench.nights_first import cut, run_first_nights
from infra.bench.nights_run import Stand, run_nights
from infra.errors import UsageError
from infra.importers import Format
from infra.settings import Settings
from tests.fakes.chat_server import Asked, ChatServer, Reply
from tests.fakes.plain_model import plain

TWICE = "I have a grey cat called Tinka."
SESSIONS = (
    (TWICE, "Mondays are for the cello.", TWICE),
    ("I went sailing near Kiel.", TWICE, "My sister Ida bakes bread."),
    ("I sold my old bicycle.",),
)
QUESTIONS = (
    ("Who has a grey cat called Tinka?", ("D1:1", "D1:3", "D2:2")),
    ("Who bakes bread?", ("D2:3",)),
    ("What was sold?", ("D3:1",)),
    ("Who flew to the moon?", ()),
)


def conversation(folder: Path) -> Path:
    """Write a talk in LoCoMo's shape: one thing is said three times, and something else by each other turn."""
    told: dict[str, Any] = {}
    for n, texts in enumerate(SESSIONS, 1):
        told[f"session_{n}_date_time"] = f"1:00 pm on {n} May, 2023"
        told[f"session_{n}"] = [
            {"dia_id": f"D{n}:{m}", "speaker": "Ana", "text": text} for m, text in enumerate(texts, 1)
        ]
    asked = [
        {"question": text, "category": 4 if rests_on else 5, "evidence": list(rests_on), "answer": "?"}
        for text, rests_on in QUESTIONS
    ]
    path = folder / "own.json"
    path.write_text(json.dumps([{"sample_id": "own-1", "conversation": told, "qa": asked}]))
    return path


def settings(folder: Path, **more: Any) -> Settings:
    return Settings(home=folder / "home", embedder="hash", **more)


def rows(printed: str) -> dict[str, list[str]]:
    """Return the cells of the table behind the name of each row."""
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if line.startswith("│")]
    return {name: rest for name, *rest in cells}


async def test_a_night_by_rules_keeps_its_promises(tmp_path: Path) -> None:
    console, raw = Console(record=True, width=200), tmp_path / "raw.jsonl"
    assert await run_nights(settings(tmp_path), conversation(tmp_path), Format.LOCOMO, console, raw)
    printed = console.export_text()
    assert "BROKEN" not in printed
    assert printed.count("kept: ") == 5
    shown = rows(printed)
    before, after, back = (shown[name] for name in ("before", "after a night", "taken back"))
    assert int(after[0]) == int(before[0]) - 2, "three of one thing are one"
    assert back[0] == before[0]
    assert (before[1], before[3]) == ("100.0", "0.0")
    assert "duplicate: 1" in printed
    answers = [json.loads(line) for line in raw.read_text().splitlines()]
    assert len(answers) == 3 * 3, "a question without evidence is not asked"
    asked = {(one["stand"], one["question"]) for one in answers}
    assert len(asked) == len(answers)
    assert all(one["hits"] for one in answers)


async def test_what_a_night_breaks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The night goes on as it is, and is never taken back: what recall shows then is not what it showed before."""

    async def kept(_self: object, _runs: Sequence[str]) -> None:
        """Take nothing back."""

    monkeypatch.setattr(nights_run._Nights, "back", kept)
    console = Console(record=True, width=200)
    assert not await run_nights(settings(tmp_path), conversation(tmp_path), Format.LOCOMO, console, None)
    broken = re.findall("BROKEN: (.*)", console.export_text())
    assert len(broken) == 1
    assert broken[0].startswith("taken back, ")


def stands(recall: float, missed: float, sources: int = 10) -> list[Stand]:
    """Return what memory brings before a night, after one that left it like this, and taken back."""
    before = Stand("before", [0.8] * 200, [0.1] * 200, sources=10)
    after = Stand("after", [0.8] * 199 + [recall], [0.1] * 199 + [missed], sources=sources)
    return [before, after, before]


@pytest.mark.parametrize(
    ("after", "by_model", "broken"),
    [
        (stands(0.8, 0.1), True, ""),
        (stands(0.0, 0.1), False, ""),
        (stands(0.0, 0.1), True, "recall at 10"),
        (stands(-0.3, 0.1), False, "recall at 10"),
        (stands(0.8, 1.0), False, ""),
        (stands(0.8, 1.0), True, "questions without any evidence"),
        (stands(0.8, 1.2), False, "questions without any evidence"),
        (stands(0.8, 0.1, sources=11), False, "live source records"),
    ],
)
def test_each_promise_can_be_broken(after: list[Stand], *, by_model: bool, broken: str) -> None:
    console = Console(record=True, width=200)
    assert nights_run._kept(console, after, [], by_model=by_model) == (not broken)
    assert [line for line in re.findall("BROKEN: (.*)", console.export_text()) if line.startswith(broken)] or not broken


async def test_what_has_no_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no questions with evidence"):
        await run_nights(settings(tmp_path), conversation(tmp_path), Format.JSONL, Console(), None)


def test_the_first_sessions_alone_are_cut_out(tmp_path: Path) -> None:
    part = cut(conversation(tmp_path), 2)
    assert {name for name in part["conversation"] if "date" not in name} == {"session_1", "session_2"}
    assert [qa["question"] for qa in part["qa"]] == ["Who has a grey cat called Tinka?", "Who bakes bread?"]
    with pytest.raises(UsageError, match="take more"):
        cut(_without(tmp_path), 1)


def _without(folder: Path) -> Path:
    """Return the same talk, of which no question rests on the first session alone."""
    path = conversation(folder)
    (sample,) = json.loads(path.read_text())
    sample["qa"] = [qa for qa in sample["qa"] if qa["evidence"] == ["D2:3"]]
    path.write_text(json.dumps([sample]))
    return path


async def test_a_night_by_model_is_measured_on_the_first_sessions(tmp_path: Path) -> None:
    asked: list[str] = []

    def script(one: Asked) -> Reply:
        asked.append(one.name)
        return plain(one)

    console, raw = Console(record=True, width=200), tmp_path / "raw.jsonl"
    with ChatServer(script) as server:
        named = settings(tmp_path, language_model=server.setting)
        assert await run_first_nights(named, conversation(tmp_path), 2, console, raw)
    printed = console.export_text()
    assert f"a night of {named.language_model}" in printed
    assert "consolidate_persona" in asked
    assert "kept: a second night decided 0 more" in printed
    answers = [json.loads(line) for line in raw.read_text().splitlines()]
    assert {one["question"] for one in answers} == {"Who has a grey cat called Tinka?", "Who bakes bread?"}
