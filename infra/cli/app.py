"""The command line: ``anabranch COMMAND``."""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.logging import RichHandler
from typer.core import TyperGroup

from infra.cli import (
    answer,
    bench,
    bench_answers,
    bench_gateway,
    bench_models,
    consolidate,
    doctor,
    forest,
    ingest,
    kafka,
    keys,
    letters,
    memory,
    models,
    operate,
    recall,
    reindex,
    schemas,
    serve,
    space,
    topics,
    topology,
    views,
    worker,
)
from infra.cli.session import Session
from infra.errors import AnabranchError, MissingError
from stages.contract import Unavailable
from streams.stopped import Stopped


class _Commands(TyperGroup):
    """Turns errors that a person can put right into a message and an exit code; anything else is a bug."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the framework's own signature
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except AnabranchError as error:
            typer.secho(f"anabranch: {error}", err=True, fg="red")
            raise typer.Exit(error.exit_code) from None
        except Unavailable as error:
            hint = "nothing is lost: try again when it answers, and see `anabranch doctor`"
            typer.secho(f"anabranch: no answer: {error}\n{hint}", err=True, fg="red")
            raise typer.Exit(MissingError.exit_code) from None
        except Stopped as error:
            typer.secho(f"anabranch: stopped: {error}", err=True, fg="red")
            raise typer.Exit(1) from None


app = typer.Typer(
    name="anabranch",
    help="Long-term memory of dialogue agents: turns in, cited memory out.",
    epilog="Example: anabranch ingest chat.jsonl --format jsonl",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a bug's traceback goes into a report: plain text
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - the framework calls it so
    if wanted:
        typer.echo(f"anabranch {version('anabranch')}")
        raise typer.Exit


@app.callback()
def _begin(
    context: typer.Context,
    *,
    _show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.obj is None:
        context.obj = Session()
    session: Session = context.obj
    logging.basicConfig(
        level=logging.WARNING, format="%(message)s", handlers=[RichHandler(console=session.messages, show_path=False)]
    )


_GROUPS = (
    *(ingest, recall, answer, memory, forest, views, letters, space, topology),
    *(consolidate, topics, kafka, worker, operate, reindex, serve, models, keys),
    *(schemas, bench, bench_gateway, bench_models, bench_answers, doctor),
)
for _group in _GROUPS:
    _group.register(app)


def main() -> None:
    """Run the command line."""
    app()
