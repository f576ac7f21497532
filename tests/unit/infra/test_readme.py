"""The README says what is so: its picture is the topology, its commands exist, its example is a turn."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from infra.cli.app import app
from schemas.turn import Turn

README = (Path(__file__).parents[3] / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_picture_is_the_topology() -> None:
    printed = CliRunner().invoke(app, ["topology", "--mermaid"])
    assert printed.exit_code == 0
    assert blocks("mermaid") == [printed.stdout]


def test_the_example_is_a_turn() -> None:
    (example,) = blocks("json")
    assert Turn.model_validate_json(example).turn_id == "c1:17"


def test_every_command_in_it_exists() -> None:
    named = set(re.findall(r"\.venv/bin/anabranch ([a-z]+)", README)) | set(
        re.findall(r"`([a-z]+)(?: [^`]*)?`", README.partition("## Commands")[2].partition("Exit codes")[0])
    )
    named -= {"anabranch"}
    assert "recall" in named
    for command in sorted(named):
        shown = CliRunner().invoke(app, [command, "--help"])
        assert shown.exit_code == 0, command
        assert "Example" in shown.stdout or "Commands" in shown.stdout, command


def test_paths_in_it_exist() -> None:
    """Those that name a file alone too: it is in the folder that the same line names."""
    root = Path(__file__).parents[3]
    for line in README.splitlines():
        paths = [root / path for path in re.findall(r"`((?:schemas|stages|streams|infra|tests)/[\w/.]*)`", line)]
        assert [path for path in paths if not path.exists()] == [], line
        folders = [path if path.is_dir() else path.parent for path in paths]
        for name in re.findall(r"`(\w+\.py)`", line):
            assert any((folder / name).exists() for folder in folders), (name, line)
