"""``schemas``: the JSON Schemas of everything that travels, the topics as AsyncAPI, and what a change breaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from infra import schema_export
from infra.cli import output
from infra.errors import UsageError
from infra.schema_changes import breaks

BROKEN = 1
"""The exit code of ``check`` when something breaks."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="JSON Schemas, and the topics as AsyncAPI.", no_args_is_help=True)
    group.command(epilog="Example: anabranch schemas export build/schemas")(export)
    group.command(epilog="Example: anabranch schemas asyncapi build/asyncapi.json")(asyncapi)
    group.command(epilog="Example: anabranch schemas check build/schemas-of-the-last-release")(check)
    app.add_typer(group, name="schemas")


def export(
    folder: Annotated[
        Path | None, typer.Argument(help="Where to write NAME.json; without it, all are printed.")
    ] = None,
) -> None:
    """Write a JSON Schema for each thing that travels, or print them as one JSON object."""
    if folder is None:
        output.json_line(schema_export.documents())
    else:
        for path in schema_export.export(folder):
            typer.echo(str(path))


def asyncapi(
    file: Annotated[Path | None, typer.Argument(help="Where to write it; without it, it is printed.")] = None,
) -> None:
    """Write the AsyncAPI document of all topics: what bots publish, and what lies in each topic."""
    from infra.asyncapi import document  # noqa: PLC0415 - it needs the clients, which not everybody has

    if file is None:
        output.json_line(document())
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(schema_export.spelled(document()))
        typer.echo(str(file))


def check(
    folder: Annotated[Path, typer.Argument(help="What `schemas export` wrote with the version before.")],
) -> None:
    """Tell what this version breaks for programs and topics of another; exit code 1 if anything."""
    found = breaks(_exported(folder), schema_export.documents(), schema_export.READ)
    for one in found:
        typer.echo(str(one))
    if found:
        raise typer.Exit(BROKEN)


def _exported(folder: Path) -> dict[str, dict[str, object]]:
    """Return the schemas of a folder.

    Raises:
        UsageError: if there are none, or one is no JSON.
    """
    try:
        found = {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}
    except (OSError, ValueError) as error:
        msg = f"{folder} does not hold JSON Schemas as `anabranch schemas export` writes them: {error}"
        raise UsageError(msg) from error
    if not found:
        msg = f"{folder} holds no JSON Schemas: write those of the other version there with its `schemas export`"
        raise UsageError(msg)
    return found
