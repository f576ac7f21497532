"""``ingest``: conversations into the log, and through the stages into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Final

import typer

from infra.cli.arguments import parse_space
from infra.cli.progress import Bar
from infra.cli.session import Session, session_of
from infra.errors import UsageError
from infra.importers import Format, Imported, publish, read
from infra.memory_api import Sums
from schemas.space import Space
from stages.contract import Unavailable

LETTERED: Final = 4
"""Exit code: done, but some turns were lettered."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: anabranch ingest chat.jsonl --format jsonl --space acme/mia")(ingest)


def ingest(
    context: typer.Context,
    *,
    path: Annotated[Path, typer.Argument(help="A file, or a folder of such files; .gz is read too.")],
    kind: Annotated[Format, typer.Option("--format", help="What the file holds.")],
    space: Annotated[
        Space | None,
        typer.Option(
            metavar="TENANT/SPACE",
            parser=parse_space,
            help="For jsonl: the space of all lines. Refused for the others.",
        ),
    ] = None,
) -> None:
    """Publish turns and process them until nothing is pending.

    Doing it again adds nothing to memory: turns that are known are counted as duplicates. Lines that were lettered are
    published and lettered again.
    """
    session = session_of(context)
    events = read(path, kind, space)
    first = list(islice(events, 1))  # a path that can't be read fails before models load
    sums = session.run(_ingest(session, chain(first, events)))
    if sums.lettered:
        session.messages.print(f"{sums.lettered} lettered: `anabranch letters list` says why.")
        raise typer.Exit(LETTERED)


async def _ingest(session: Session, events: Iterator[Imported]) -> Sums:
    """Return the sums of this run; what an earlier run left pending is finished first and is not in them."""
    async with session.memory(wait=True) as memory:
        before = memory.sums()
        try:
            await publish(memory, events, _published(session))
            with Bar(session.messages, "remembering") as bar:
                await memory.run(bar.show)
        except (Unavailable, UsageError):  # what was published before stays, and is pending
            typer.echo(str(memory.sums() - before))
            raise
        sums = memory.sums() - before
    typer.echo(str(sums))
    return sums


def _published(session: Session) -> Callable[[int], None]:
    def show(count: int) -> None:
        if session.messages.is_terminal:
            session.messages.print(f"published {count:,}", end="\r")

    return show
