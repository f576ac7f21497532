"""``bench embeddings``: what a model plane promises, under load."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.cli import output
from infra.cli.bench import benchmarks
from infra.cli.session import session_of


def register(_app: typer.Typer) -> None:
    """Add the command to the group of benchmarks."""
    benchmarks.command(epilog="Example: anabranch bench embeddings --texts 1024 --concurrent 32 --kills 1")(embeddings)


def embeddings(
    context: typer.Context,
    *,
    texts: Annotated[int, typer.Option("--texts", min=16, help="Texts of a slice.")] = 1024,
    slices: Annotated[int, typer.Option("--slices", min=1, help="Slices that both take in turn.")] = 4,
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, max=256, help="Requests at once.")] = 32,
    kills: Annotated[int, typer.Option("--kills", min=0, help="Times that a replica is killed under load.")] = 1,
) -> None:
    """Embeddings by a model plane that it starts, against the same encoder in process: speed, and that none is lost.

    Exit code 1 if a request was lost or a vector differs by one bit.
    """
    from infra.bench.embeddings_run import Wanted, run_embeddings  # noqa: PLC0415 - `--help` must not load models

    session = session_of(context)
    wanted = Wanted(texts, slices, concurrent, kills)
    raise typer.Exit(0 if session.run(run_embeddings(session.settings(), wanted, output.console())) else 1)
