"""The command line over a small memory, empty or filled with a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.settings import Settings
from tests.fakes.command import TURNS, Cli, jsonl
from tests.fakes.memory import FakeMemory


@pytest.fixture
def memory() -> FakeMemory:
    return FakeMemory()


@pytest.fixture
def cli(memory: FakeMemory, tmp_path: Path) -> Cli:
    session = Session(settings=lambda: Settings(home=tmp_path / "home", embedder="hash"), opener=lambda: memory.open)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), obj=session)

    return run


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "chat.jsonl", *TURNS)


@pytest.fixture
def filled(cli: Cli, chat: Path) -> Cli:
    assert cli("ingest", str(chat), "--format", "jsonl").exit_code == 0
    return cli
