"""Settings: where they come from, which wins, and what is said about wrong ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from infra.errors import UsageError
from infra.settings import Settings, config_file, load_settings, unknown_variables


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANABRANCH_HOME", str(tmp_path))


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANABRANCH_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = load_settings()
    assert settings.home.name == "anabranch"
    assert settings.home.is_relative_to(tmp_path)
    assert settings.embedder == "sentence-transformers:all-MiniLM-L6-v2"
    assert settings.threads is None


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('embedder = "hash"\nmax_text = 5\n')
    assert config_file() == tmp_path / "config.toml"
    monkeypatch.setenv("ANABRANCH_MAX_TEXT", "7")
    settings = load_settings()
    assert (type(settings), settings.home, settings.embedder, settings.max_text) == (Settings, tmp_path, "hash", 7)


def test_a_named_file_may_set_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named = tmp_path / "mine.toml"
    named.write_text(f'home = "{(tmp_path / "elsewhere").as_posix()}"\n')
    monkeypatch.delenv("ANABRANCH_HOME")
    monkeypatch.setenv("ANABRANCH_CONFIG", str(named))
    assert load_settings().home == tmp_path / "elsewhere"


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_EMBEDDER", "")
    assert load_settings().embedder.startswith("sentence-transformers:")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("EMBEDDER", "word2vec", "hash"),
        ("EMBEDDER", "sentence-transformers:", "NAME_OR_FOLDER"),
        ("EMBEDDER", "openai:localhost:1#m", "openai:URL#MODEL"),
        ("RERANKER", "openai:http://localhost:1", "openai:URL#MODEL"),
        ("RERANKER", "bert", "NAME_OR_FOLDER"),
        ("MAX_TEXT", "many", "integer"),
        ("MAX_TEXT", "0", "greater than or equal to 1"),
        ("THREADS", "-1", "greater than or equal to 1"),
        ("LANGUAGE_MODEL", "gpt-5", "openai:URL#MODEL"),
        ("LANGUAGE_MODEL", "openai:http://localhost/v1", "openai:URL#MODEL"),
        ("LANGUAGE_MODEL", "openai:file:///etc#x", "openai:URL#MODEL"),
        ("LANGUAGE_MODEL", "openai:http://me:secret@localhost#x", "openai:URL#MODEL"),
        ("MODEL_KEY", "geh\u00e4im", "plain ASCII"),
        ("MODEL_TIMEOUT", "0", "greater than 0"),
        ("MODEL_CONCURRENCY", "0", "greater than or equal to 1"),
        ("QDRANT_GRPC_PORT", "0", "greater than or equal to 1"),
    ],
)
def test_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    monkeypatch.setenv(f"ANABRANCH_{name}", value)
    with pytest.raises(UsageError, match=f"ANABRANCH_{name}: .*{told}") as caught:
        load_settings()
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "told"), [("colour = 1", "colour"), ("= nonsense", "can't be read"), ("max_text = []", "max_text in")]
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UsageError, match=told):
        load_settings()


def test_a_named_file_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANABRANCH_CONFIG", str(tmp_path / "absent.toml"))
    with pytest.raises(UsageError, match=r"absent\.toml"):
        load_settings()


def test_variables_that_set_nothing_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_EMBEDER", "hash")
    assert unknown_variables() == ["ANABRANCH_EMBEDER"]
