"""Every command has help with an example, and the example can be parsed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from infra.cli.app import app

GROUPS = {"letters", "space", "schemas", "bench", "consolidate", "kafka", "topics", "keys", "models", "reindex"}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_an_example_that_can_be_parsed(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    example = re.fullmatch(r"Example: anabranch (.*)", command.epilog or "")
    assert example, "no example"
    words = shlex.split(example[1])
    assert tuple(words[: len(path)]) == path
    command.make_context(path[-1], words[len(path) :])
    shown = CliRunner().invoke(app, [*path, "--help"])
    assert shown.exit_code == 0
    assert "Example: anabranch" in shown.stdout


def test_the_commands_of_the_interface_are_there() -> None:
    plain = "ingest recall answer context turns placements times mentions records forest topology doctor".split()
    assert {(name,) for name in plain} <= COMMANDS.keys()
    assert {("letters", "list"), ("letters", "show"), ("space", "inspect"), ("schemas", "export")} <= COMMANDS.keys()
    assert {group.name for group in app.registered_groups} == GROUPS
