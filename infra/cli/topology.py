"""``topology``: the dataflow."""

from __future__ import annotations

from typing import Annotated, cast

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch topology --mermaid")(topology)


def topology(
    *,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid flowchart.")] = False,
) -> None:
    """Print which topic feeds which stage, and where its output goes."""
    from infra import bootstrap  # noqa: PLC0415 - other commands must not wait for all stages to be imported
    from infra.models import HashEmbedder  # noqa: PLC0415
    from stages.ports import History  # noqa: PLC0415

    nothing_is_read = cast("History", None)  # the flow is only looked at
    flow = bootstrap.topology(HashEmbedder(), nothing_is_read, max_text=1)
    typer.echo(flow.mermaid() if mermaid else flow.text())
