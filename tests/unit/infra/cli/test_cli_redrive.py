"""``letters redrive``: turns that were refused, taken again once the cause is mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.settings import Settings
from tests.fakes.command import SPACE, TURNS, jsonl, line, objects

LONG = line("t4", "We talked about the floor, the fridge and the bicycle. " * 10)


def run(home: Path, *arguments: str, max_text: int = 1_000_000) -> Result:
    settings = Settings.model_construct(home=home, embedder="hash", max_text=max_text)
    return CliRunner().invoke(app, list(arguments), obj=Session(settings=lambda: settings))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that has refused a long turn and a blank one."""
    chat = jsonl(tmp_path / "chat.jsonl", *TURNS, LONG, line("t5", " "))
    told = run(tmp_path / "home", "ingest", str(chat), "--format", "jsonl", max_text=200)
    assert (told.exit_code, told.stdout) == (
        4,
        "published=5 committed=3 lettered=2 duplicates=0 forgotten=0 pending=0\n",
    )
    return tmp_path / "home"


def states(home: Path) -> dict[str, str]:
    return {turn["turn_id"]: turn["state"] for turn in objects(run(home, "turns", "--space", SPACE, "--json"))}


def test_a_named_letter_is_taken_again(home: Path) -> None:
    long, blank = objects(run(home, "letters", "list", "--json"))
    taken = objects(run(home, "letters", "redrive", long["letter_id"][:8], "--json"))
    assert taken == [long]
    assert states(home) == {
        "t1": "committed",
        "t2": "committed",
        "t3": "committed",
        "t4": "committed",
        "t5": "lettered",
    }
    assert objects(run(home, "letters", "list", "--json")) == [long, blank]


def test_all_letters_of_a_space_are_taken_again_but_those_that_came_to_memory(home: Path) -> None:
    run(home, "letters", "redrive", "--space", SPACE)
    again = run(home, "letters", "redrive", "--space", SPACE, "--json")
    assert again.exit_code == 4
    assert "1 lettered again" in again.stderr
    attempts = [(letter["turn_id"], letter["attempt"]) for letter in objects(run(home, "letters", "list", "--json"))]
    assert attempts == [("t4", 1), ("t5", 1), ("t5", 2), ("t5", 3)]
    (status,) = objects(run(home, "space", "inspect", SPACE, "--json"))
    assert status["sums"] == {
        "published": 8, "committed": 4, "lettered": 4, "duplicates": 0, "forgotten": 0, "pending": 0
    }  # fmt: skip


def test_nothing_to_take_again_is_told(home: Path) -> None:
    run(home, "letters", "redrive", "--space", SPACE)
    long = objects(run(home, "letters", "list", "--json"))[0]
    nothing = run(home, "letters", "redrive", long["letter_id"])
    assert (nothing.exit_code, "Nothing to take again" in nothing.stderr) == (0, True)


@pytest.mark.parametrize("arguments", [(), ("no-such-letter",), ("no-such-letter", "--space", SPACE)])
def test_wrong_use_changes_nothing(home: Path, arguments: tuple[str, ...]) -> None:
    before = run(home, "records", "--space", SPACE, "--json").stdout
    assert run(home, "letters", "redrive", *arguments).exit_code == 2
    assert run(home, "records", "--space", SPACE, "--json").stdout == before


def test_a_newer_revision_is_taken_though_an_older_one_came_to_memory_since(tmp_path: Path) -> None:
    home, new = tmp_path / "home", line("t1", "I moved to Nice. " * 20) | {"revision": 1}
    chat = jsonl(tmp_path / "chat.jsonl", new, line("t1", "I moved to Bonn."))
    assert run(home, "ingest", str(chat), "--format", "jsonl", max_text=200).exit_code == 4
    assert run(home, "letters", "redrive", "--space", SPACE).exit_code == 0
    texts = [row["text"] for row in objects(run(home, "records", "--space", SPACE, "--json")) if row.get("turn")]
    assert any(text.startswith("I moved to Nice.") for text in texts)
    again = run(home, "letters", "redrive", "--space", SPACE)
    assert (again.exit_code, "came to memory since" in again.stderr) == (0, True)


def test_a_letter_is_open_until_its_event_has_come_to_memory(home: Path) -> None:
    def open_ones() -> int:
        (status,) = objects(run(home, "space", "inspect", SPACE, "--json"))
        count: int = status["letters"]
        return count

    assert open_ones() == 2
    run(home, "letters", "redrive", "--space", SPACE)
    assert open_ones() == 1


def test_a_space_without_letters_says_so(home: Path) -> None:
    nothing = run(home, "letters", "redrive", "--space", "no/body")
    assert (nothing.exit_code, "there is no letter" in nothing.stderr) == (0, True)
