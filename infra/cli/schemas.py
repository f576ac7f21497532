"""``schemas``: the JSON Schemas of everything that travels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infra import schema_export
from infra.cli import output


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="JSON Schemas.", no_args_is_help=True)
    group.callback()(_schemas)  # else a group of one command would be that command
    group.command(epilog="Example: anabranch schemas export build/schemas")(export)
    app.add_typer(group, name="schemas")


def _schemas() -> None:
    """JSON Schemas of everything that travels."""


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
