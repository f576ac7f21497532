"""``worker``: a stage as members of its consumer group, and the state of all that run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from infra.cli import operate, output
from infra.cli.arguments import JsonOption
from infra.cli.session import session_of
from infra.errors import UsageError
from infra.workers.child import Child
from infra.workers.supervise import supervise

STATUS = "status"


def register(app: typer.Typer) -> None:
    """Add the command, and those of operators."""
    app.command("worker", epilog="Example: anabranch worker normalize --workers 2")(worker)
    operate.register(app)


def worker(
    context: typer.Context,
    stage: Annotated[
        str, typer.Argument(metavar="STAGE|status", help=f"{operate.STAGES}; or `status` to see all workers.")
    ],
    *,
    workers: Annotated[int, typer.Option("--workers", min=1, max=1024, help="Processes of the stage.")] = 1,
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="Of the first one's pages; unset: free ones."),
    ] = None,
    as_json: JsonOption = False,
    child: Annotated[str | None, typer.Option("--child", hidden=True)] = None,
) -> None:
    """Run a stage on Kafka until Ctrl-C or SIGTERM; what ends unasked is started again. `status` shows all workers.

    Each process serves /healthz, /readyz, /metrics and /status, on 127.0.0.1 unless ANABRANCH_WORKER_HOST names another
    address, and logs JSON lines.
    """
    if stage == STATUS:
        _status(context, as_json=as_json)
        return
    if as_json:
        msg = "--json belongs to `anabranch worker status`; a worker logs JSON lines always"
        raise UsageError(msg)
    settings, name = session_of(context).settings(), operate.known(stage)
    if child is None:
        raise typer.Exit(supervise(settings, name, workers, port or settings.worker_port))
    from infra.workers.work import work  # noqa: PLC0415 - `--help` and a supervisor must not load models and clients

    raise typer.Exit(work(settings, name, Child.read(child)))


def _status(context: typer.Context, *, as_json: bool) -> None:
    from infra.workers.status import COLUMNS, rows  # noqa: PLC0415 - `--help` must not load the client

    session = session_of(context)
    found = list(rows(operate.servers_of(session), session.settings().generation))
    output.rows(found if as_json else map(_in_words, found), COLUMNS, as_json=as_json)


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    waits = [row["unwell"], *row["waits_for"]]
    stopped = [f"{partition}: {reason}" for partition, reason in row["stopped"].items()]
    return row | {"waits_for": "; ".join(filter(None, waits)) or None, "stopped": "; ".join(stopped) or None}
