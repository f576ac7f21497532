"""``bench irc --raw``: the placement of each annotated message beside its gold antecedents."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from infra.bench.irc_run import run_irc
from infra.settings import Settings

NAME = "2009-03-03_10"


async def test_raw_answers_are_written(tmp_path: Path) -> None:
    data = tmp_path / "irc"
    data.mkdir()
    log = "[10:00] <ana> my sound is gone\n[10:01] <ben> ana: is it muted?\n[10:02] <cid> which kernel is newest?\n"
    (data / f"{NAME}.ascii.txt").write_text(log)
    (data / f"{NAME}.annotation.txt").write_text("0 0 -\n0 1 -\n")
    raw = tmp_path / "raw.jsonl"
    settings = Settings(home=tmp_path / "home", embedder="hash")
    await run_irc(settings, data, Console(quiet=True), raw)
    answers = [json.loads(line) for line in raw.read_text().splitlines()]
    assert [(one["channel"], one["message"], one["antecedents"]) for one in answers] == [(NAME, 0, [0]), (NAME, 1, [0])]
    assert answers[1]["placement"]["parent_turn_id"] == "0"
