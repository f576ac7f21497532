"""``worker``: a stage as a member of its consumer group."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from infra.cli.session import session_of
from infra.errors import UsageError
from streams.topology import FLOW


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker", epilog="Example: anabranch worker normalize")(worker)


def worker(
    context: typer.Context,
    stage: Annotated[str, typer.Argument(help="normalize, localize_state, extract_per_view, route or commit.")],
) -> None:
    """Run a stage on Kafka until Ctrl-C or SIGTERM."""
    from infra.workers.main import run  # noqa: PLC0415 - `--help` must not load models and clients

    known = [step.name for step in FLOW]
    if stage not in known:
        msg = f"there is no stage {stage!r}; the stages are {', '.join(known)}"
        raise UsageError(msg)
    settings = session_of(context).settings()
    asyncio.run(run(settings, stage))
