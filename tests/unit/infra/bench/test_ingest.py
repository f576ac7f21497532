"""``bench ingest``: what it counts, on a set of two short conversations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from infra.bench import ingest_run
from infra.importers import Format, read
from infra.settings import Settings

TURNS = ("The ferry leaves at nine.", "We will be late.", "The ferry leaves at nine.")


def dialogue(space: str, texts: Sequence[str]) -> list[str]:
    """Return the lines of one conversation."""
    fixed = {"space": f"demo/{space}", "speaker": {"id": "mia"}}
    return [
        json.dumps(fixed | {"turn_id": f"t{n}", "text": text, "at": f"2026-03-0{n + 1}T10:00:00Z"})
        for n, text in enumerate(texts)
    ]


async def test_each_text_counts_once_over_all_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([*dialogue("a", TURNS), *dialogue("b", TURNS)]))
    monkeypatch.setattr(ingest_run, "SLICE", 2)
    await ingest_run.run_ingest(Settings(embedder="hash"), log, Format.JSONL, None, Console(width=200))
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in printed.splitlines() if line.startswith("│")]
    assert [row[:2] for row in rows] == [["1", "2"], ["2", "2"], ["3", "2"]]
    assert "published=6 committed=6 lettered=0" in printed
    texts = [int(row[2]) for row in rows]
    assert texts[0] > 0
    assert sum(texts) < 6 * 3, "the same words of two spaces are one text"


async def test_conversations_are_told_side_by_side(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([*dialogue("a", TURNS), *dialogue("b", TURNS[:1])]))
    told = ingest_run._side_by_side(read(log, Format.JSONL))
    assert [event.space_key for event in told] == ["demo/a", "demo/b", "demo/a", "demo/a"]
