"""A PATH with programs of our own, which stand for Java and Maven as a machine may have them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Programs = Callable[..., None]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Put shell scripts, by their names, before all other programs; without the others if ``alone``."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def put(*, alone: bool = False, **scripts: str) -> None:
        for name, script in scripts.items():
            path = folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder) if alone else f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put
