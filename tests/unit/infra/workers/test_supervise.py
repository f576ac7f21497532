"""What no worker could start with ends its supervisor at once, before one is started again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.errors import HomeUnusable, MissingError, UsageError
from infra.settings import Settings
from infra.workers import child
from infra.workers.supervise import supervise


def settings(home: Path, kafka: str | None = "127.0.0.1:1") -> Settings:
    return Settings(home=home, embedder="hash", kafka=kafka)


def test_no_broker_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ANABRANCH_KAFKA"):
        supervise(settings(tmp_path, None), "normalize", 1, None)


def test_the_home_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeUnusable, match="ANABRANCH_HOME"):
        supervise(settings(tmp_path / "file" / "home"), "normalize", 1, None)


@pytest.mark.parametrize("loaded", [False, True])
def test_a_client_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, loaded: bool) -> None:
    if loaded:
        pytest.importorskip("faust")  # once loaded it is found in another way
    monkeypatch.setattr(child, "_CLIENTS", ("json", "faust", "no_such_client"))
    with pytest.raises(MissingError, match=r"need no_such_client: .*anabranch\[kafka\]"):
        supervise(settings(tmp_path), "normalize", 1, None)
