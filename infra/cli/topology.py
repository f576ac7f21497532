"""``topology``: the dataflow."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch topology --mermaid")(topology)


def topology(
    *,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid flowchart.")] = False,
) -> None:
    """Print which topic feeds which stage, and where its output goes."""
    from streams import topology as flow  # noqa: PLC0415 - `--help` must not wait for the schemas of all topics

    typer.echo(flow.mermaid() if mermaid else flow.text())
