"""``bench``: measurements, each with its baselines in the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.session import session_of
from infra.importers import Format

benchmarks = typer.Typer(help="Benchmarks with their baselines.", no_args_is_help=True)

Data = Annotated[Path, typer.Argument(help="The set: a file, or a folder of such files.")]
Raw = Annotated[Path | None, typer.Option("--raw", help="Write every raw answer there, as JSON lines.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(benchmarks, name="bench")


@benchmarks.command(epilog="Example: anabranch bench locomo ../shared/data/locomo")
def locomo(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Evidence recall on LoCoMo by category number, beside recent turns, BM25 and dense search."""
    from infra.bench.evidence_run import run_locomo  # noqa: PLC0415 - `--help` must not load index and models

    session = session_of(context)
    session.run(run_locomo(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench beam ../shared/data/beam")
def beam(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Source recall on BEAM by ability, beside recent turns, BM25 and dense search."""
    from infra.bench.evidence_run import run_beam  # noqa: PLC0415

    session = session_of(context)
    session.run(run_beam(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench irc ../shared/data/irc/dev.tar.gz")
def irc(context: typer.Context, path: Data, raw: Raw = None) -> None:
    """Reply links and conversations of IRC channels, beside the addressee rule and the previous message."""
    from infra.bench.irc_run import run_irc  # noqa: PLC0415

    session = session_of(context)
    session.run(run_irc(session.settings(), path, output.console(), raw))


@benchmarks.command(epilog="Example: anabranch bench ingest ../shared/data/locomo --turns 2000")
def ingest(
    context: typer.Context,
    path: Data,
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")] = Format.LOCOMO,
    turns: Annotated[int | None, typer.Option("--turns", min=1, help="At most so many turns; unset: all.")] = None,
) -> None:
    """Ingest against the bare encoder on the same texts, both warm, in one run."""
    from infra.bench.ingest_run import run_ingest  # noqa: PLC0415

    session = session_of(context)
    session.run(run_ingest(session.settings(), path, kind, turns, output.console()))


@benchmarks.command(epilog="Example: anabranch bench bounds --locomo ../shared/data/locomo --turns 10000")
def bounds(
    context: typer.Context,
    *,
    locomo: Annotated[Path | None, typer.Option("--locomo", help="Two-party chats; unset: made by rule.")] = None,
    beam: Annotated[Path | None, typer.Option("--beam", help="Chats with an assistant; unset: made by rule.")] = None,
    irc: Annotated[Path | None, typer.Option("--irc", help="Logs of channels; unset: made by rule.")] = None,
    turns: Annotated[int, typer.Option("--turns", min=100, help="Turns of a space at the end.")] = 10_000,
) -> None:
    """State, what is written of it, time, files and memory as a space grows, and recall in large and many spaces."""
    from infra.bench.bounds_dialogues import dialogues  # noqa: PLC0415
    from infra.bench.bounds_run import run_bounds  # noqa: PLC0415

    session = session_of(context)
    told = dialogues(turns, locomo, beam, irc)
    session.run(run_bounds(session.settings(), told, turns, output.console()))
