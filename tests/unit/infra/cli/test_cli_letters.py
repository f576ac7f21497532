"""Letters, a space as a whole, and the schemas."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.command import SPACE, Cli, objects


def test_letters_are_listed_and_shown(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b'{"space": "acme/mia", "x": "\xff"}\n')
    cli("ingest", str(tmp_path / "bad.jsonl"), "--format", "jsonl")
    (letter,) = objects(cli("letters", "list", "--space", SPACE, "--json"))
    assert set(letter) == {"letter_id", "space", "turn_id", "position", "stage", "reason", "attempt"}
    assert objects(cli("letters", "list", "--space", "other/space", "--json")) == []
    (shown,) = objects(cli("letters", "show", letter["letter_id"][:6], "--json"))
    assert shown["original"] == '{"space": "acme/mia", "x": "\\xff"}'
    assert "original" in cli("letters", "show", letter["letter_id"]).stdout
    assert objects(cli("letters", "show", letter["letter_id"], "--space", SPACE, "--json")) == [shown]
    elsewhere = cli("letters", "show", letter["letter_id"], "--space", "other/space")
    assert (elsewhere.exit_code, "0 letters" in elsewhere.stderr) == (2, True)


def test_a_space_is_inspected(filled: Cli) -> None:
    (status,) = objects(filled("space", "inspect", SPACE, "--json"))
    assert (status["position"], status["watermark"], status["letters"]) == (2, 2, 0)
    assert status["sums"]["committed"] == 3
    assert status["stages"][0] == {"stage": "commit", "position": 2, "lag": 0, "state_bytes": 100, "vector_bytes": 0}
    assert "watermark  2" in filled("space", "inspect", SPACE).stdout


def test_schemas_are_exported(cli: Cli, tmp_path: Path) -> None:
    (printed,) = objects(cli("schemas", "export"))
    assert printed["turn"]["properties"]["turn_id"]["maxLength"] == 256
    assert cli("schemas", "export", str(tmp_path / "out")).exit_code == 0
    assert json.loads((tmp_path / "out" / "turn.json").read_text()) == printed["turn"]
