"""``bench model|views|gpu|embeddings``: what models cost, what recall gains by them, what a model plane promises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.bench import Data, Raw, benchmarks
from infra.cli.session import session_of
from infra.importers import Format

Sessions = Annotated[int, typer.Option("--sessions", min=1, help="Sessions of the first conversation.")]


def register(_app: typer.Typer) -> None:
    """Add the commands to the group of benchmarks."""
    benchmarks.command(epilog="Example: anabranch bench model infra/demo/conversation.jsonl --turns 50")(model)
    benchmarks.command(epilog="Example: anabranch bench views ../shared/data/locomo --sessions 10")(views)
    benchmarks.command(epilog="Example: anabranch bench embeddings --texts 1024 --concurrent 32 --kills 1")(embeddings)
    benchmarks.command(epilog="Example: anabranch bench gpu ../shared/data/locomo --model ./Qwen2.5-7B-Instruct")(gpu)


def model(
    context: typer.Context,
    path: Data,
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")] = Format.JSONL,
    turns: Annotated[int, typer.Option("--turns", min=1, help="At most so many turns.")] = 50,
) -> None:
    """Calls, tokens and the shared prefix of a language model a turn. Exit code 1 if a turn is lost, or costs too much.

    It asks the model that ANABRANCH_LANGUAGE_MODEL names.
    """
    from infra.bench.model_run import run_model  # noqa: PLC0415 - `--help` must not load index and models

    session = session_of(context)
    if not session.run(run_model(session.settings(), path, kind, turns, output.console())):
        raise typer.Exit(1)


def views(context: typer.Context, path: Data, sessions: Sessions = 10, raw: Raw = None) -> None:
    """Evidence recall under views that configure themselves, a single view, random views, and by rules."""
    from infra.bench.views_run import run_views  # noqa: PLC0415

    session = session_of(context)
    session.run(run_views(session.settings(), path, sessions, output.console(), raw))


def gpu(
    context: typer.Context,
    path: Data,
    *,
    source: Annotated[str, typer.Option("--model", help="The language model: a folder, or its name on a hub.")],
    sessions: Sessions = 10,
    python: Annotated[Path | None, typer.Option("--python", help="An interpreter with the extras serve, llm.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Without a GPU: ask ANABRANCH_LANGUAGE_MODEL.")] = False,
    raw: Raw = None,
) -> None:
    """`views`, `consolidation` and `answers` with a language model on vLLM, which Ray starts on this machine's GPU.

    All are about the first sessions alone, in memories that the model wrote; `--raw` keeps what is asked before and
    after a night in FILE.nights, answers in FILE.answers. Ends with 1 where the night broke a promise.
    """
    from infra.bench.gpu_run import Wanted, run_gpu  # noqa: PLC0415

    session = session_of(context)
    wanted = Wanted(path, source, sessions, str(python or sys.executable), dry_run, raw)
    if not session.run(run_gpu(session.settings(), wanted, output.console())):
        raise typer.Exit(1)


def embeddings(
    context: typer.Context,
    *,
    texts: Annotated[int, typer.Option("--texts", min=16, help="Texts of a slice.")] = 1024,
    slices: Annotated[int, typer.Option("--slices", min=1, help="Slices that both take in turn.")] = 4,
    concurrent: Annotated[int, typer.Option("--concurrent", min=1, max=256, help="Requests at once.")] = 32,
    kills: Annotated[int, typer.Option("--kills", min=0, help="Times that a replica is killed under load.")] = 1,
) -> None:
    """Embeddings by a model plane that it starts, against the same encoder in process: speed, and that none is lost.

    Exit code 1 if a request was lost, a vector differs by one bit, or it has less than 0.8 of the speed in process.
    """
    from infra.bench.embeddings_run import Wanted, run_embeddings  # noqa: PLC0415 - `--help` must not load models

    session = session_of(context)
    wanted = Wanted(texts, slices, concurrent, kills)
    raise typer.Exit(0 if session.run(run_embeddings(session.settings(), wanted, output.console())) else 1)
