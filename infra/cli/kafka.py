"""``kafka``: a broker of one's own."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.session import session_of
from infra.kafka_clients import quiet
from infra.settings import cache_folder


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="A Kafka broker on this machine.", no_args_is_help=True)
    group.command("up", epilog="Example: anabranch kafka up --port 9092")(up)
    app.add_typer(group, name="kafka")


def up(
    context: typer.Context,
    *,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where its data lie; unset: the folder `kafka` in the home.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Where clients connect; unset: a free one.")
    ] = None,
) -> None:
    """Run one broker for this machine only, until Ctrl-C; its data stay. The first time brings Kafka's jars (54 MB)."""
    from infra.kafka import Broker, bring  # noqa: PLC0415 - `--help` must not load the client

    session = session_of(context)
    quiet()  # a broker that starts is not there yet, as its client says
    signal.signal(signal.SIGTERM, _interrupt)  # a supervisor's SIGTERM stops it as Ctrl-C does
    try:
        where = session.settings().home / "kafka" if folder is None else folder.expanduser()
        with session.messages.status("starting Kafka"):
            broker = Broker.at(where, bring(cache_folder()), port)
        with broker:
            typer.echo(f"Kafka runs on {broker.bootstrap}: export ANABRANCH_KAFKA={broker.bootstrap}")
            broker.wait()
    except KeyboardInterrupt:
        session.messages.print("Kafka is stopped. Its data stay: the next `anabranch kafka up` goes on with them.")


def _interrupt(_number: int, _frame: Any) -> None:  # noqa: ANN401 - the system's own signature
    raise KeyboardInterrupt
