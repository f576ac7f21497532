"""``reindex``: memory embedded or derived anew beside the live one, then read in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption
from infra.cli.progress import Bar
from infra.cli.session import Session, session_of
from infra.errors import UsageError

if TYPE_CHECKING:
    from infra.reindex.api import Reindex, Report, Standing

_COLUMNS = ("role", "kind", "name", "generation", "model", "dimension", "embedder", "behind")

Work = Callable[["Reindex", "Report"], Awaitable["Standing"]]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="Embed or derive memory anew beside the live one, then read that.",
        invoke_without_command=True,
        epilog="Example: ANABRANCH_EMBEDDER=sentence-transformers:./larger anabranch reindex --vectors",
    )
    group.callback()(reindex)
    group.command("status", epilog="Example: anabranch reindex status --json")(status)
    group.command("switch", epilog="Example: anabranch reindex switch")(switch)
    group.command("rollback", epilog="Example: anabranch reindex rollback")(rollback)
    group.command("abandon", epilog="Example: anabranch reindex abandon")(abandon)
    app.add_typer(group, name="reindex")


def reindex(
    context: typer.Context,
    *,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Embed all records with the embedder of ANABRANCH_EMBEDDER.")
    ] = False,
    derive: Annotated[bool, typer.Option("--derive", help="Derive a new generation from the log.")] = False,
    partitions: Annotated[
        int | None, typer.Option("--partitions", min=1, help="Of the new generation's topics; on Kafka.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="On Kafka: end when it is caught up, and do not follow.")
    ] = False,
) -> None:
    """Build another index of the same memory, or the memory anew; what is read stays as it is until `switch`.

    A run that was ended or killed goes on where it was when the command is given again. On Kafka it goes
    on until it is ended: it is what keeps the new index up to memory, or the workers that derive, also after `switch`
    (of a new generation: until you run them yourself, with ANABRANCH_GENERATION). `--vectors` with the embedder of
    what was read before brings that on for `rollback`.
    """
    if context.invoked_subcommand is not None:
        return
    if vectors == derive or (partitions is not None and not derive):
        msg = "say --vectors or --derive (with it, --partitions), or one of status, switch, rollback, abandon"
        raise UsageError(msg)
    session = session_of(context)
    session.run(_build(session, vectors=vectors, partitions=partitions, follow=not once))
    session.messages.print(
        "Caught up. `anabranch reindex switch` lets recall read what is next, and `abandon` removes it."
    )


async def _build(session: Session, *, vectors: bool, partitions: int | None, follow: bool) -> None:
    from infra.bootstrap import open_reindex  # noqa: PLC0415 - `--help` must not load the index

    if follow and session.settings().kafka is not None:
        session.messages.print("This goes on until it is ended. `anabranch reindex status` says how far it is.")
    async with open_reindex(session.settings()) as work:
        with Bar(session.messages, "re-embedding" if vectors else "deriving", "events") as bar:
            if vectors:
                await work.vectors(bar.show, follow=follow)
            else:
                await work.derive(partitions, bar.show, follow=follow)


def status(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Show what is read, what decides, what can be gone back to and what is being built."""
    session = session_of(context)
    session.run(_status(session, as_json=as_json))


async def _status(session: Session, *, as_json: bool) -> None:
    from infra.bootstrap import open_reindex  # noqa: PLC0415

    async with open_reindex(session.settings()) as work:
        found = await work.status()
    output.rows(map(asdict, found), _COLUMNS, as_json=as_json)


def switch(context: typer.Context) -> None:
    """Let recall read what was built: it catches up, its counts are compared with memory's, then it is read."""
    session = session_of(context)
    standing = session.run(_do(session, lambda work, report: work.switch(report)))
    _reads(session, standing)


def rollback(context: typer.Context) -> None:
    """Let recall read again what it read before the last switch; what is read now can be switched to again."""
    session = session_of(context)
    standing = session.run(_do(session, lambda work, report: work.rollback(report)))
    _reads(session, standing)


def abandon(context: typer.Context) -> None:
    """Remove what was built and is not read."""
    session = session_of(context)
    standing = session.run(_do(session, lambda work, _: work.abandon()))
    session.messages.print(f"Removed {standing.name} ({standing.kind}, model {standing.model}).")


async def _do(session: Session, act: Work) -> Standing:
    from infra.bootstrap import open_reindex  # noqa: PLC0415

    async with open_reindex(session.settings()) as work:
        with Bar(session.messages, "catching up", "events") as bar:
            return await act(work, bar.show)


def _reads(session: Session, standing: Standing) -> None:
    session.messages.print(
        f"Recall reads {standing.name}: {standing.kind}, generation {standing.generation}, model {standing.model}."
    )
    if standing.embedder is not None:
        session.messages.print(f"Set ANABRANCH_EMBEDDER={standing.embedder} for what reads from now on.")
    if session.settings().kafka is not None and standing.generation != session.settings().generation:
        session.messages.print(f"Set ANABRANCH_GENERATION={standing.generation} for workers and for what reads.")
