"""``serve``: the HTTP gateway, and in the embedded mode the stages beside it."""

from __future__ import annotations

from datetime import datetime, time
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli.session import session_of
from infra.errors import MissingError, UsageError

if TYPE_CHECKING:
    from infra.nights.serving import Nightly


def parse_clock(text: str) -> time:
    """Read ``HH:MM``; a wrong form is wrong use of the command line."""
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - a time of day, in UTC where it is used
    except ValueError:
        msg = f"a time of day is written HH:MM, such as 03:00; got {text!r}"
        raise typer.BadParameter(msg) from None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch serve --host 127.0.0.1 --port 8080")(serve)


def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: a free one.")] = 8080,
    vectors: Annotated[
        str | None,
        typer.Option("--vectors", metavar="EMBEDDER", help="Meanwhile embed the home's records with this one too."),
    ] = None,
    derive: Annotated[bool, typer.Option("--derive", help="Meanwhile derive the home's memory anew.")] = False,
    switch: Annotated[bool, typer.Option("--switch", help="Read what was built as soon as it is caught up.")] = False,
    consolidate: Annotated[
        time | None,
        typer.Option(
            "--consolidate",
            metavar="HH:MM",
            parser=parse_clock,
            help="Consolidate the home each day at this time (UTC).",
        ),
    ] = None,
) -> None:
    """Serve the HTTP gateway until Ctrl-C or SIGTERM: bots publish turns and ask memory. Logs are JSON lines.

    Embedded it owns the home and processes what comes; on Kafka workers do that. `anabranch keys` makes API keys.
    A home that is served is reindexed by --vectors or --derive, as `anabranch reindex` does it for one that is not, and
    consolidated by --consolidate, as `anabranch consolidate` does it.
    """
    if (vectors is not None and derive) or (switch and vectors is None and not derive):
        msg = "say --vectors EMBEDDER or --derive, and --switch only with one of them"
        raise UsageError(msg)
    try:
        from infra.gateway.renewal import Renewal  # noqa: PLC0415 - as below
        from infra.gateway.server import Beside  # noqa: PLC0415 - likewise
        from infra.gateway.server import serve as run_gateway  # noqa: PLC0415 - `--help` must not load the server
    except ModuleNotFoundError as error:
        msg = f"the gateway needs {error.name}, which is not installed: install anabranch[gateway]"
        raise MissingError(msg) from error
    from infra.workers import logs, loop  # noqa: PLC0415 - likewise

    settings = session_of(context).settings()
    logs.to_stderr("gateway", 0)
    renewal = Renewal(vectors, switch) if vectors is not None or derive else None
    loop.run(run_gateway(settings, host, port, _answers, Beside(renewal, _nightly(consolidate))))


def _nightly(at: time | None) -> Nightly | None:
    if at is None:
        return None
    from infra.nights.serving import Nightly  # noqa: PLC0415 - on Kafka a gateway loads no index in process

    return Nightly(at)


def _answers(address: str) -> None:
    typer.echo(f"The gateway answers on {address}")
