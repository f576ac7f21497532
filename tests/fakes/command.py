"""A conversation of three turns in a file, and what a command printed about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

SPACE = "acme/mia"
Cli = Callable[..., Result]


def line(turn_id: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a turn of Mia's, said N minutes past six if its id is ``tN``."""
    at = f"2026-03-01T18:{int(turn_id.removeprefix('t')):02}:00+01:00"
    return {"space": SPACE, "turn_id": turn_id, "speaker": {"id": "mia", "name": "Mia"}, "text": text, "at": at} | more


TURNS = [
    line("t1", "The kitchen floor gave way under the fridge."),
    line("t2", "Ravi bought a blue bicycle.", reply_to="t1"),
    line("t3", "The floor is being mended — für 900 €.", reply_to="t1"),
]


def jsonl(path: Path, *values: Any) -> Path:
    """Write a file of a line a value and return its path."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def objects(result: Result) -> list[dict[str, Any]]:
    """Return what a command that went well printed, line by line."""
    assert result.exit_code == 0, result.output
    return [json.loads(printed) for printed in result.stdout.splitlines()]
