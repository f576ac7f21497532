"""``topics``: the topics of a Kafka cluster, as the flow needs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption
from infra.cli.session import Session, session_of
from infra.errors import UsageError
from infra.kafka_clients import quiet

if TYPE_CHECKING:
    from infra.kafka import Applied, Cluster, WantedTopic

COLUMNS = ("topic", "differs", "wanted", "found")

Replication = Annotated[
    int | None,
    typer.Option("--replication", min=1, help="Copies of each partition; unset: 3, or as many as there are brokers."),
]
Partitions = Annotated[int, typer.Option("--partitions", min=1, help="Of the topics behind the log.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="The topics of the Kafka cluster that ANABRANCH_KAFKA names.", no_args_is_help=True)
    group.command("apply", epilog="Example: anabranch topics apply --replication 3")(apply)
    group.command("diff", epilog="Example: anabranch topics diff --json")(diff)
    app.add_typer(group, name="topics")


def apply(
    context: typer.Context,
    *,
    replication: Replication = None,
    partitions: Partitions = 24,
    as_json: JsonOption = False,
) -> None:
    """Make the topics that are missing and put settings right. Never deletes; doing it again changes nothing."""
    from infra.kafka import Cluster  # noqa: PLC0415 - `--help` must not load the client

    with Cluster.at(_servers(session_of(context))) as cluster:
        done = cluster.apply(_wanted(cluster, replication, partitions, session_of(context).settings().generation))
    output.rows(_done(done), ("topic", "done"), as_json=as_json)


def diff(
    context: typer.Context,
    *,
    replication: Replication = None,
    partitions: Partitions = 24,
    as_json: JsonOption = False,
) -> None:
    """Show what `apply` would change, and what it could not. Exit code 1 if anything differs."""
    from infra.kafka import Cluster  # noqa: PLC0415

    with Cluster.at(_servers(session_of(context))) as cluster:
        found = cluster.differences(
            _wanted(cluster, replication, partitions, session_of(context).settings().generation)
        )
    if found:
        output.rows(found.rows(), COLUMNS, as_json=as_json)
        raise typer.Exit(1)


def _servers(session: Session) -> str:
    quiet()
    servers = session.settings().kafka
    if servers is None:
        msg = "no Kafka is named: set ANABRANCH_KAFKA to its servers, or start one with `anabranch kafka up`"
        raise UsageError(msg)
    return servers


def _wanted(cluster: Cluster, replication: int | None, partitions: int, generation: int) -> tuple[WantedTopic, ...]:
    from infra.kafka import wanted  # noqa: PLC0415

    copies = min(3, cluster.brokers()) if replication is None else replication
    return wanted(replication=copies, partitions=partitions, generation=generation)


def _done(applied: Applied) -> Iterator[dict[str, str]]:
    for topic in applied.created:
        yield {"topic": topic, "done": "created"}
    for topic, setting in applied.altered:
        yield {"topic": topic, "done": f"{setting} changed"}
