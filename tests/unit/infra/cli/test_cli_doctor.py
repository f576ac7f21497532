"""``doctor`` on homes that are well, and on homes that are not."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from infra.cli.app import app
from infra.cli.session import Session
from infra.home import owned
from infra.models import HashEmbedder
from infra.settings import Settings
from tests.fakes.model_server import ModelServer, serving
from tests.fakes.reranker import WordsShared


def doctor(home: Path, embedder: str = "hash", **more: Any) -> tuple[int, dict[str, Any]]:
    session = Session(settings=lambda: Settings(home=home, embedder=embedder, **more))
    result = CliRunner().invoke(app, ["doctor", "--json"], obj=session)
    return result.exit_code, {check["name"]: check for check in map(json.loads, result.stdout.splitlines())}


def test_a_home_that_is_not_there_yet_is_fine_and_stays_away(tmp_path: Path) -> None:
    code, checks = doctor(tmp_path / "new")
    assert code == 0
    assert {name: check["verdict"] for name, check in checks.items()} == {
        "versions": "ok", "settings": "ok", "home": "ok", "disk": "ok", "index": "ok", "nights": "ok", "encoder": "ok",
        "language": "ok",
    } or checks["disk"]["verdict"] == "odd"  # fmt: skip
    assert not (tmp_path / "new").exists()


def test_a_home_in_use_is_named_with_its_process(tmp_path: Path) -> None:
    with owned(tmp_path / "home"):
        code, checks = doctor(tmp_path / "home")
    assert (code, checks["home"]["verdict"]) == (0, "odd")
    assert "in use by process" in checks["home"]["found"]
    assert "refused" in checks["home"]["advice"]


def test_a_home_of_another_model_is_wrong_and_both_are_named(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "log.sqlite")
    database.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    database.execute("INSERT INTO meta VALUES ('model', 'other@1')")
    database.commit()
    database.close()
    code, checks = doctor(tmp_path)
    assert (code, checks["encoder"]["verdict"]) == (3, "wrong")
    assert "hash@2" in checks["encoder"]["found"]
    assert "other@1" in checks["encoder"]["found"]
    assert "ANABRANCH_EMBEDDER" in checks["encoder"]["advice"]


def test_a_model_that_is_missing_is_wrong(tmp_path: Path) -> None:
    code, checks = doctor(tmp_path, "sentence-transformers:./no-such-model")
    assert (code, checks["encoder"]["verdict"]) == (3, "wrong")
    assert "no such folder" in checks["encoder"]["found"]


def test_a_variable_that_sets_nothing_is_odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_EMBEDER", "hash")
    code, checks = doctor(tmp_path)
    assert (code, checks["settings"]["verdict"]) == (0, "odd")
    assert "ANABRANCH_EMBEDER" in checks["settings"]["found"]


def test_a_home_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, checks = doctor(tmp_path / "file")
    assert (code, checks["home"]["verdict"]) == (3, "wrong")


def test_of_a_served_encoder_it_says_that_vectors_may_differ_and_of_a_reranker_what_it_is(tmp_path: Path) -> None:
    with serving(ModelServer(HashEmbedder(), WordsShared())) as url:
        code, checks = doctor(tmp_path, f"openai:{url}#hash", reranker=f"openai:{url}#words")
    assert (code, checks["encoder"]["verdict"], checks["encoder"]["found"]) == (0, "ok", "hash@2, 384 dimensions")
    assert "may differ" in checks["encoder"]["advice"]
    assert (checks["reranker"]["verdict"], checks["reranker"]["found"]) == ("ok", "words")


def test_a_served_encoder_that_is_not_there_is_wrong_and_a_reranker_odd_since_recall_goes_on(tmp_path: Path) -> None:
    gone = "openai:http://127.0.0.1:1/v1#m"
    code, checks = doctor(tmp_path, gone, reranker=gone)
    assert (code, checks["encoder"]["verdict"], checks["reranker"]["verdict"]) == (3, "wrong", "odd")
    assert "127.0.0.1:1" in checks["encoder"]["found"]
