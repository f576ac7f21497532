"""``consolidate`` through the command line, on a real home with the real stages and the hash embedder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from infra.cli.app import app
from infra.cli.session import Session
from infra.home import owned
from infra.settings import Settings
from tests.fakes.command import Cli, jsonl, objects
from tests.fakes.real_home import said

MIA, BEN = "acme/mia", "acme/ben"
TEXTS = ("I have a cat.", "I like jazz.", "I have a cat.", "I like jazz.", "I work as a nurse.")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def cli(home: Path) -> Cli:
    session = Session(settings=lambda: Settings(home=home, embedder="hash"))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), obj=session)

    return run


@pytest.fixture
def told(cli: Cli, tmp_path: Path) -> Cli:
    turns = [json.loads(said(f"t{n}", text, space, minutes=n)) for space in (MIA, BEN) for n, text in enumerate(TEXTS)]
    assert cli("ingest", str(jsonl(tmp_path / "chat.jsonl", *turns)), "--format", "jsonl").exit_code == 0
    return cli


def rows(cli: Cli, space: str = MIA) -> str:
    shown = cli("records", "--space", space, "--json")
    assert shown.exit_code == 0
    return shown.stdout


def open_texts(cli: Cli, space: str = MIA) -> list[str]:
    every = [json.loads(line) for line in rows(cli, space).splitlines()]
    closed = {row["id"] for row in every if row["row"] == "closed"}
    items = [row for row in every if row["row"] == "record" and row["kind"] in {"event", "fact", "attribute"}]
    return sorted(row["text"] for row in items if row["id"] not in closed)


def test_a_night_a_second_one_that_finds_nothing_and_the_way_back(told: Cli) -> None:
    before = open_texts(told)
    dry = told("consolidate", "--space", MIA, "--dry-run")
    assert (dry.exit_code, open_texts(told)) == (0, before)
    assert "nothing was published" in dry.stdout
    first = told("consolidate", "--tenant", "acme")
    assert first.exit_code == 0, first.output
    assert "- Mia has a cat. (2 times)" in first.stdout
    assert open_texts(told) == sorted(set(before))
    memory = rows(told)
    second = objects(told("consolidate", "--json"))
    assert [(one["what"], one["space"], one["events"]) for one in second] == [("space", BEN, 0), ("space", MIA, 0)]
    assert rows(told) == memory
    (run,) = {one["run"] for one in objects(told("consolidate", "runs", "--space", MIA, "--json"))}
    undone = objects(told("consolidate", "undo", run, "--space", MIA, "--json"))
    assert {one["what"] for one in undone} == {"undo", "space"}
    assert undone[-1]["stale"] == 0
    assert open_texts(told) == before
    shown = told("consolidate", "runs", "--space", MIA)
    assert f"undo-{run}" in shown.stdout


def test_json_says_what_was_merged_and_why(told: Cli) -> None:
    printed = objects(told("consolidate", "--space", MIA, "--json"))
    merged = [one for one in printed if one["what"] in {"duplicate", "merge"}]
    assert sorted(one["records"][0]["text"] for one in merged) == ["Mia has a cat.", "Mia likes jazz."]
    for one in merged:
        assert one["reason"]
        assert [by["retired"] for by in one["sources"]] == [True, True]
        assert {by["text"] for by in one["sources"]} == {one["records"][0]["text"]}
    assert printed[-1]["retired"] >= 4


def test_it_says_who_has_the_home(told: Cli, home: Path) -> None:
    with owned(home):
        refused = told("consolidate")
    assert (refused.exit_code, "is in use by process" in refused.output) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--tenant", "nobody"), "memory holds nothing of nobody"),
        (("--space", "acme/nobody"), "memory holds nothing of acme/nobody"),
        (("--space", "nobody"), "tenant/space"),
        (("--most", "0"), "most"),
        (("--since", "yesterday"), "since"),
        (("undo", "2026-01-01-aaaaaaaa"), "say where"),
        (("undo", "2026-01-01-aaaaaaaa", "--space", MIA), "no record of a run"),
        (("undo", "2026-01-01-aaaaaaaa", "--space", MIA, "--tenant", "acme"), "say where"),
    ],
)
def test_wrong_use_is_told(told: Cli, arguments: tuple[str, ...], why: str) -> None:
    refused = told("consolidate", *arguments)
    assert (refused.exit_code, why in refused.output) == (2, True), refused.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--idle", "1e9"), "--idle"),
        (("--idle", "inf"), "--idle"),
        (("--tenant", "zoo", "--space", MIA), "acme/mia is no space of tenant zoo"),
        (("--dry-run", "undo", "2026-01-01-aaaaaaaa", "--space", MIA), "give options behind `undo`"),
        (("--tenant", "acme", "runs"), "give options behind `runs`"),
    ],
)
def test_wrong_use_is_told_before_the_home_is_opened(
    cli: Cli, home: Path, arguments: tuple[str, ...], why: str
) -> None:
    refused = cli("consolidate", *arguments)
    assert (refused.exit_code, why in refused.output) == (2, True), refused.output
    assert not home.exists()


def test_a_home_without_turns_has_nothing_to_consolidate(cli: Cli) -> None:
    assert cli("consolidate").exit_code == 0
    assert objects(cli("consolidate", "runs", "--json")) == []


def test_doctor_says_when_a_tenant_was_consolidated(told: Cli) -> None:
    def check() -> str:
        return next(line for line in told("doctor").stdout.splitlines() if "nights" in line)

    assert "no consolidation yet" in check()
    assert told("consolidate").exit_code == 0
    assert "acme was last consolidated 0 hours ago" in check()


def test_runs_of_one_tenant_only(told: Cli) -> None:
    assert told("consolidate").exit_code == 0
    assert {one["space"] for one in objects(told("consolidate", "runs", "--tenant", "acme", "--json"))} == {BEN, MIA}
    assert objects(told("consolidate", "runs", "--tenant", "zoo", "--json")) == []
