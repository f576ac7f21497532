"""``bench publish|tenants|tokens``: what a gateway promises, under load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.bench import benchmarks
from infra.cli.session import session_of

Installation = Annotated[
    Path | None,
    typer.Option("--qdrant", help="The Qdrant server's binary: start that, a broker and workers, and run on them."),
]


def register(_app: typer.Typer) -> None:
    """Add the commands to the group of benchmarks."""
    benchmarks.command(epilog="Example: anabranch bench publish --bots 200 --turns 4000 --kills 2")(publish)
    benchmarks.command(epilog="Example: anabranch bench tenants --recalls 10000")(tenants)
    benchmarks.command(epilog="Example: anabranch bench tokens --turns 1000 --bots 20")(tokens)
    benchmarks.command(epilog="Example: anabranch bench replay --qdrant /usr/bin/qdrant --vectors hash:512")(replay)


def publish(  # noqa: PLR0913 - a run has that many sizes
    context: typer.Context,
    *,
    bots: Annotated[int, typer.Option("--bots", min=1, help="Bots that publish at once.")] = 200,
    turns: Annotated[int, typer.Option("--turns", min=1, help="Turns in all.")] = 4000,
    spaces: Annotated[
        int, typer.Option("--spaces", min=1, help="Spaces that they are of, the n-th with weight 1/n.")
    ] = 100,
    kills: Annotated[int, typer.Option("--kills", min=0, help="Times that the gateway is killed meanwhile.")] = 2,
    seed: Annotated[int, typer.Option("--seed", help="Decides texts, spaces and pauses.")] = 1,
    pause: Annotated[
        float, typer.Option("--pause", min=0.001, help="Seconds of a bot between bursts, on average.")
    ] = 6.0,
    qdrant: Installation = None,
) -> None:
    """Bots publish in bursts to a gateway that is killed: accept latency, and that nothing accepted is lost or doubled.

    It starts a gateway itself: embedded in a home of its own, on the Kafka that is named, where workers run, or with
    --qdrant on an installation that it starts too.
    """
    from infra.bench.publish_run import Wanted, run_publish  # noqa: PLC0415

    session = session_of(context)
    wanted = Wanted(bots, turns, spaces, kills, seed, pause, qdrant)
    outcome = session.run(run_publish(session.settings(), wanted, output.console()))
    raise typer.Exit(0 if outcome.is_clean else 1)


def tenants(
    context: typer.Context,
    *,
    recalls: Annotated[int, typer.Option("--recalls", min=1, help="Recalls of both tenants together.")] = 10_000,
    turns: Annotated[int, typer.Option("--turns", min=8, help="Turns of a space.")] = 100,
    spaces: Annotated[int, typer.Option("--spaces", min=1, help="Spaces of each tenant.")] = 4,
    qdrant: Installation = None,
) -> None:
    """Two tenants say and ask the same: nobody may see or move what is the other's, nor enter by a wrong key."""
    from infra.bench.tenants_run import Wanted, run_tenants  # noqa: PLC0415

    session = session_of(context)
    wanted = Wanted(recalls, turns, spaces, qdrant=qdrant)
    outcome = session.run(run_tenants(session.settings(), wanted, output.console()))
    raise typer.Exit(0 if outcome.is_clean else 1)


def tokens(
    context: typer.Context,
    *,
    turns: Annotated[int, typer.Option("--turns", min=1, help="Turns that are asked for at once.")] = 1000,
    bots: Annotated[int, typer.Option("--bots", min=1, help="Bots that publish meanwhile.")] = 20,
    pause: Annotated[
        float, typer.Option("--pause", min=0.001, help="Seconds of a bot between bursts, on average.")
    ] = 6.0,
    qdrant: Installation = None,
) -> None:
    """Turns are published and asked for at once by their token: found, or declared stale, never silently missed."""
    from infra.bench.tokens_run import Wanted, run_tokens  # noqa: PLC0415

    session = session_of(context)
    wanted = Wanted(turns, bots=bots, pause=pause, qdrant=qdrant)
    outcome = session.run(run_tokens(session.settings(), wanted, output.console()))
    raise typer.Exit(0 if outcome.is_clean else 1)


def replay(
    context: typer.Context,
    *,
    qdrant: Annotated[Path, typer.Option("--qdrant", help="The Qdrant server's binary: it runs on an installation.")],
    vectors: Annotated[
        str | None, typer.Option("--vectors", metavar="EMBEDDER", help="Embed with this one; unset: derive anew.")
    ] = None,
    turns: Annotated[int, typer.Option("--turns", min=1, help="Turns before it begins.")] = 1000,
    bots: Annotated[int, typer.Option("--bots", min=1, help="Bots that publish meanwhile.")] = 10,
) -> None:
    """An installation is reindexed under traffic, killed once, switched, rolled back: no recall fails, memory is equal.

    Its broker, index server and workers are started for it.
    """
    from infra.bench.replay_run import Wanted, run_replay  # noqa: PLC0415

    session = session_of(context)
    wanted = Wanted(vectors, qdrant, turns, bots)
    outcome = session.run(run_replay(session.settings(), wanted, output.console()))
    raise typer.Exit(0 if outcome.is_clean else 1)
