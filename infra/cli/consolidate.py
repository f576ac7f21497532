"""``consolidate``: what a night makes of memory, taking a run back, and which runs there were."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infra.cli import output
from infra.cli.arguments import JsonOption, NoWaitOption, parse_space, parse_time
from infra.cli.progress import Bar
from infra.cli.session import Session, session_of
from infra.errors import UsageError
from schemas.space import Space

if TYPE_CHECKING:
    from infra.nights.api import Ground, Report, Told, Wish

Begin = Callable[["Ground", "Report"], AsyncIterator["Told"]]

_RUNS = ("space", "run", "since", "merged", "retired", "topics", "personas", "restored", "standing")
_MOST = 500
"""As ``infra.nights.api.MOST``, which `--help` must not load the stages for."""
_LONGEST = 876_600
"""Hours that ``--idle`` takes at most, a hundred years: what lies before the first calendar year is no time."""

_now = datetime.now  # noqa: TID251 - when a run begins is the time of its own events

TenantOption = Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="Spaces of this tenant only.")]
OneSpaceOption = Annotated[
    Space | None, typer.Option("--space", metavar="TENANT/SPACE", parser=parse_space, help="This space only.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        invoke_without_command=True,
        epilog="Example: anabranch consolidate --tenant acme --dry-run",
    )
    group.callback()(consolidate)
    group.command("undo", epilog="Example: anabranch consolidate undo 2026-03-01-1a2b3c4d --space acme/mia")(undo)
    group.command("runs", epilog="Example: anabranch consolidate runs --space acme/mia")(runs)
    app.add_typer(group, name="consolidate")


def consolidate(  # noqa: PLR0913 - a command's options
    context: typer.Context,
    *,
    tenant: TenantOption = None,
    space: OneSpaceOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")] = False,
    since: Annotated[
        datetime | None,
        typer.Option("--since", metavar="TIME", parser=parse_time, help="Only spaces with a turn at or after it."),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Records that a space may lose in this run.")] = _MOST,
    idle: Annotated[
        float,
        typer.Option(
            "--idle",
            metavar="HOURS",
            min=0,
            max=_LONGEST,
            help="Route working memory where nobody spoke for so long; an undo leaves it routed.",
        ),
    ] = 24,
    as_json: JsonOption = False,
) -> None:
    """Merge records that say the same, and write topic and persona records, space by space.

    Decisions go into the log as control events, so a replay repeats them without deciding again; `undo` takes a
    run back. A run that was ended or killed leaves nothing half done: the next one decides what is left. One run a
    tenant at a time: exit code 1 if another process is at it. With --dry-run themes are those of memory as it is,
    before anything is merged.
    """
    if context.invoked_subcommand is not None:
        _must_be_alone(context)
        return
    _must_agree(tenant, space)
    from infra.nights.api import Wish  # noqa: PLC0415 - `--help` must not load the stages
    from infra.nights.night import consolidate as begin  # noqa: PLC0415

    session, at = session_of(context), _now(UTC)
    wish = Wish(tenant, space, since, most, timedelta(hours=idle), dry_run)
    session.run(_report(session, wish, lambda ground, report: begin(ground, wish, at, report), as_json=as_json))


def undo(
    context: typer.Context,
    *,
    run: Annotated[str, typer.Argument(help="The run's name, as `consolidate runs` shows it.")],
    tenant: TenantOption = None,
    space: OneSpaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a run back: what it merged comes again, and what it wrote leaves the search.

    Working memory that it routed stays routed, as that of an idle space does. The next run doesn't merge again what
    this brings back, but it writes topics and personas anew.
    """
    if (tenant is None) == (space is None):
        msg = "say where: --space TENANT/SPACE, or --tenant TENANT"
        raise UsageError(msg)
    from infra.nights.api import Wish  # noqa: PLC0415 - `--help` must not load the stages
    from infra.nights.undoing import undo as begin  # noqa: PLC0415

    session, at, wish = session_of(context), _now(UTC), Wish(tenant, space)
    session.run(_report(session, wish, lambda ground, report: begin(ground, wish, run, at, report), as_json=as_json))


def _must_be_alone(context: typer.Context) -> None:
    """See that nothing is given before the name of a subcommand, which would not heed it.

    Raises:
        UsageError: if an option is.
    """
    sources = map(context.get_parameter_source, context.params)
    if any(source is not None and source.name == "COMMANDLINE" for source in sources):
        msg = f"give options behind `{context.invoked_subcommand}`: those before it are of `consolidate` alone"
        raise UsageError(msg)


def _must_agree(tenant: str | None, space: Space | None) -> None:
    """See that a space is one of the tenant, where both are named.

    Raises:
        UsageError: if it is not.
    """
    if tenant is not None and space is not None and space.tenant != tenant:
        msg = f"{space} is no space of tenant {tenant}"
        raise UsageError(msg)


async def _report(session: Session, wish: Wish, begin: Begin, *, as_json: bool) -> None:
    from infra.bootstrap import open_ground  # noqa: PLC0415 - `--help` must not load the index
    from infra.cli import night_report  # noqa: PLC0415

    every: list[Told] = []
    with Bar(session.messages, "processing") as waiting:
        async with open_ground(session.settings(), waiting.show) as ground:
            await _must_be_known(ground, wish)
            with Bar(session.messages, "consolidating", "steps") as bar:
                async for told in begin(ground, bar.show):
                    every.append(told)
                    _print(told, dry=wish.dry, as_json=as_json)
    typer.echo(night_report.total(every, dry=wish.dry), err=as_json)


def _print(told: Told, *, dry: bool, as_json: bool) -> None:
    from infra.cli import night_report  # noqa: PLC0415 - as above

    if as_json:
        output.json_lines(night_report.objects(told, dry=dry))
    else:
        night_report.show(told, dry=dry)


async def _must_be_known(ground: Ground, wish: Wish) -> None:
    """See that memory has what is named.

    Raises:
        UsageError: if it has no such space or tenant.
    """
    named = wish.space or wish.tenant
    reached = (await ground.look()).reached
    if named is not None and not any(wish.names(space) for space in reached):
        msg = f"memory holds nothing of {named}"
        raise UsageError(msg)


def runs(
    context: typer.Context,
    *,
    tenant: TenantOption = None,
    space: OneSpaceOption = None,
    as_json: JsonOption = False,
    no_wait: NoWaitOption = False,
) -> None:
    """Show the runs that left records, by space: what each made, how many records it retired, and what still stands."""
    _must_agree(tenant, space)
    from infra.nights.api import Wish  # noqa: PLC0415 - `--help` must not load the stages

    session = session_of(context)
    session.run(_runs(session, Wish(tenant, space), as_json=as_json, wait=not no_wait))


async def _runs(session: Session, wish: Wish, *, as_json: bool, wait: bool) -> None:
    from infra.bootstrap import open_ground  # noqa: PLC0415 - `--help` must not load the index
    from infra.nights.sight import Runs, seen  # noqa: PLC0415

    found: list[dict[str, Any]] = []
    with Bar(session.messages, "catching up") as bar:
        async with open_ground(session.settings(), bar.show, wait=wait) as ground:
            look = await ground.look()
            for one in sorted(filter(wish.names, look.reached)):
                found += [{"space": one} | asdict(run) for run in Runs().add(await seen(look.rows(one)))]
    output.rows(found, _RUNS, as_json=as_json)
