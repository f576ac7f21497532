"""``keys``: the API keys of the gateway."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption
from infra.cli.session import session_of
from infra.gateway.keys import KeyFile

COLUMNS = ("key_id", "tenant", "note", "created", "revoked")


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="API keys of the gateway, each of one tenant.", no_args_is_help=True)
    group.command("create", epilog="Example: anabranch keys create --tenant acme --note 'support bot'")(create)
    group.command("list", epilog="Example: anabranch keys list --json")(list_)
    group.command("revoke", epilog="Example: anabranch keys revoke 1f0c5a9d2b7e")(revoke)
    app.add_typer(group, name="keys")


def create(
    context: typer.Context,
    *,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose spaces it opens: those that begin with TENANT/.")],
    note: Annotated[str, typer.Option("--note", help="What it is for; shown by `keys list`.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a key and print it, this once: only its hash is kept. A running gateway takes it at once."""
    session = session_of(context)
    key, text = KeyFile(session.settings().key_file).create(tenant, note)
    if as_json:
        output.json_line(asdict(key) | {"key": text})
        return
    typer.echo(text)
    session.messages.print(f"The key {key.key_id} of {tenant}. It is shown this once: only its hash is kept.")


def list_(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List all keys without their secrets, revoked ones too."""
    keys = KeyFile(session_of(context).settings().key_file).every()
    output.rows(map(asdict, keys), COLUMNS, as_json=as_json)


def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="As `keys list` shows it.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key for good. A running gateway refuses it from its next request on."""
    key = KeyFile(session_of(context).settings().key_file).revoke(key_id)
    output.rows([asdict(key)], COLUMNS, as_json=as_json)
