"""``space``: where a space stands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption, NoWaitOption, parse_space
from infra.cli.session import Session, session_of
from infra.memory_api import SpaceStatus
from schemas.space import Space

_STAGE = ("stage", "position", "lag", "state_bytes", "vector_bytes")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Spaces: the unit of order and isolation.", no_args_is_help=True)
    group.callback()(_spaces)  # else a group of one command would be that command
    group.command(epilog="Example: anabranch space inspect acme/mia")(inspect)
    app.add_typer(group, name="space")


def _spaces() -> None:
    """Spaces: the unit of order and isolation."""


def inspect(
    context: typer.Context,
    *,
    space: Annotated[Space, typer.Argument(metavar="TENANT/SPACE", parser=parse_space)],
    as_json: JsonOption = False,
    no_wait: NoWaitOption = False,
) -> None:
    """Show position, watermark, lag and state size by stage, and open letters."""
    session = session_of(context)
    session.run(_inspect(session, space, as_json=as_json, wait=not no_wait))


async def _inspect(session: Session, space: Space, *, as_json: bool, wait: bool) -> None:
    async with session.memory(wait=wait) as memory:
        status = memory.inspect(space)
    if as_json:
        output.json_line(asdict(status))
    else:
        _show(status)


def _show(status: SpaceStatus) -> None:
    typer.echo(f"space      {status.space}")
    typer.echo(f"position   {status.position}")
    typer.echo(f"watermark  {status.watermark}")
    typer.echo(f"letters    {status.letters}")
    typer.echo(f"events     {status.sums}\n")
    output.rows((asdict(stage) for stage in status.stages), _STAGE, as_json=False)
