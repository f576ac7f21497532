"""``bench reindex``: what it counts, on a set of two short conversations."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from infra.bench import reindex_run
from infra.importers import Format
from infra.settings import Settings
from tests.fakes.real_home import story


async def test_every_event_is_embedded_anew_once_over_all_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(story(12)))
    monkeypatch.setattr(reindex_run, "SLICE", 5)
    await reindex_run.run_reindex(Settings(embedder="hash:64"), log, Format.JSONL, None, Console(width=200))
    printed = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in printed.splitlines() if line.startswith("│")]
    assert [row[:2] for row in rows] == [["1", "5"], ["2", "5"], ["3", "2"]]
    assert all(int(row[2]) >= int(row[1]) for row in rows)
    assert "model hash:64@2" in printed
    assert "published=12 committed=12" in printed
