"""``bench tenants`` and ``bench tokens``: small runs, and verdicts that see what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from infra.bench import tenants_run, tokens_run
from infra.settings import Settings


async def test_neither_tenant_sees_or_moves_the_others(tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    wanted = tenants_run.Wanted(recalls=150, turns=16, spaces=2, together=3)
    outcome = await tenants_run.run_tenants(Settings(home=tmp_path, embedder="hash"), wanted, console)
    assert outcome.is_clean, outcome.wrong
    assert outcome.recalls > 150
    said = console.export_text()
    assert "answers with the other's words=0, moved by the other's words=0" in said
    assert "wrong answers to keys=0" in said


async def test_a_leak_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both tenants have the same word here, so that each answer looks like the other's."""
    monkeypatch.setattr(tenants_run, "word_of", lambda _tenant: "same")
    wanted = tenants_run.Wanted(recalls=40, turns=8, spaces=1, together=2)
    outcome = await tenants_run.run_tenants(Settings(home=tmp_path, embedder="hash"), wanted, Console(quiet=True))
    assert outcome.leaks > 10
    assert not outcome.is_clean


@pytest.mark.parametrize("fault", [{"leaks": 1}, {"moved": 1}, {"wrong": ["no key: it is 200"]}])
def test_whatever_is_wrong_is_not_clean(fault: dict[str, object]) -> None:
    assert tenants_run.Outcome().is_clean
    assert not tenants_run.Outcome(**fault).is_clean  # type: ignore[arg-type]  # a table's row


async def test_what_is_asked_for_at_once_is_found_or_stale(tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    wanted = tokens_run.Wanted(turns=20, together=2, bots=2, pause=1.0)
    outcome = await tokens_run.run_tokens(Settings(home=tmp_path, embedder="hash"), wanted, console)
    assert outcome.is_clean
    assert outcome.found + outcome.stale == 20
    assert outcome.found > 10
    assert "silently missed=0" in console.export_text()
    assert not tokens_run.Outcome(missed=["t1"]).is_clean
