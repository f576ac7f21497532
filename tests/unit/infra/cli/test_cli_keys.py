"""``keys`` and ``serve`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from infra.cli.app import app
from infra.cli.session import Session
from infra.gateway.keys import KeyBook
from infra.settings import Settings
from tests.fakes.command import Cli, objects


def test_a_key_is_made_shown_once_listed_and_revoked(cli: Cli, tmp_path: Path) -> None:
    (made,) = objects(cli("keys", "create", "--tenant", "acme", "--note", "support bot", "--json"))
    book = KeyBook(tmp_path / "home" / "keys.sqlite")
    assert book.check(made["key"]) is not None
    plain = cli("keys", "create", "--tenant", "evil")
    text = plain.stdout.strip().splitlines()[0]
    found = book.check(text)
    assert found is not None
    assert found.tenant == "evil"
    listed = objects(cli("keys", "list", "--json"))
    assert sorted((key["tenant"], key["note"], key["revoked"]) for key in listed) == [
        ("acme", "support bot", None),
        ("evil", "", None),
    ]
    assert made["key"] not in cli("keys", "list").stdout
    (gone,) = objects(cli("keys", "revoke", made["key_id"], "--json"))
    assert gone["revoked"]
    assert book.check(made["key"]) is None


def test_keys_may_lie_elsewhere(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", embedder="hash", keys=tmp_path / "mounted" / "keys")
    made = CliRunner().invoke(app, ["keys", "create", "--tenant", "acme"], obj=Session(settings=lambda: settings))
    assert made.exit_code == 0
    assert KeyBook(tmp_path / "mounted" / "keys").check(made.stdout.strip().splitlines()[0]) is not None
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("keys", "create", "--tenant", "a/b"), "no tenant is called"),
        (("keys", "revoke", "nobody"), "keys list"),
    ],
)
def test_wrong_use_is_told(arguments: tuple[str, ...], told: str, cli: Cli) -> None:
    result = cli(*arguments)
    assert (result.exit_code, told in result.stderr) == (2, True)


def test_without_any_key_the_list_is_empty(cli: Cli) -> None:
    assert objects(cli("keys", "list", "--json")) == []
