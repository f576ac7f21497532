"""Progress: plain lines where there is no terminal, a bar with rate and lags where there is one, else nothing."""

from __future__ import annotations

import io

from rich.console import Console

from infra.cli.progress import Bar
from infra.memory_api import Progress


def shown(steps: int, total: int, *, terminal: bool) -> str:
    out = io.StringIO()
    with Bar(Console(file=out, force_terminal=terminal, width=120), "remembering") as bar:
        for done in range(1, steps + 1):
            bar.show(Progress(done, total, {"normalize": total - done, "commit": 0}))
    return out.getvalue()


def test_no_work_shows_nothing() -> None:
    assert shown(0, 0, terminal=False) == shown(0, 0, terminal=True) == ""


def test_without_a_terminal_a_long_run_prints_twenty_lines() -> None:
    lines = shown(1000, 1000, terminal=False).splitlines()
    assert len(lines) == 20
    assert lines[0] == "remembering: 50/1000 normalize:950"
    assert lines[-1] == "remembering: 1000/1000"


def test_a_terminal_gets_a_bar_with_the_stages_lags() -> None:
    drawn = shown(3, 10, terminal=True)
    assert "remembering" in drawn
    assert "3/10" in drawn
    assert "normalize:7" in drawn
    assert "commit" not in drawn
