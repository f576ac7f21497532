"""``quarantine``, ``rewind``, ``pause`` and ``resume``: what operators do to a stage that runs on Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli.session import Session, session_of
from infra.errors import UsageError
from infra.kafka_clients import quiet
from infra.workers import child
from streams.topology import FLOW

if TYPE_CHECKING:
    from infra.workers.operating import Operated

STAGES = ", ".join(step.name for step in FLOW)

StageArgument = Annotated[str, typer.Argument(help=f"One of {STAGES}.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("quarantine", epilog="Example: anabranch quarantine extract_per_view 3 1042")(quarantine)
    app.command("rewind", epilog="Example: anabranch rewind route --partition 3")(rewind)
    app.command("pause", epilog="Example: anabranch pause commit")(pause)
    app.command("resume", epilog="Example: anabranch resume commit")(resume)


def known(stage: str) -> str:
    """Return a stage's name.

    Raises:
        UsageError: if there is no such stage.
    """
    if stage not in {step.name for step in FLOW}:
        msg = f"there is no stage {stage!r}; the stages are {STAGES}"
        raise UsageError(msg)
    return stage


def servers_of(session: Session) -> str:
    """Return the brokers that the settings name.

    Raises:
        UsageError: if they name none.
    """
    quiet()
    return child.servers_of(session.settings())


@asynccontextmanager
async def _operated(session: Session, stage: str) -> AsyncIterator[Operated]:
    from infra.workers.operating import operated  # noqa: PLC0415 - `--help` must not load clients

    async with operated(servers_of(session), known(stage), session.settings().generation) as one:
        yield one


def quarantine(
    context: typer.Context,
    stage: StageArgument,
    partition: Annotated[int, typer.Argument(min=0, help="Of the stage's input, as `worker status` names it.")],
    offset: Annotated[int, typer.Argument(min=0, help="Of the event, as the alarm names it.")],
) -> None:
    """Give up one event that a stage cannot get past: it becomes a letter, and what waits behind it goes on."""
    session = session_of(context)

    async def work() -> None:
        from infra.workers.operating import quarantine as give_up  # noqa: PLC0415

        async with _operated(session, stage) as one:
            await give_up(one, partition, offset)

    session.run(work())
    session.messages.print(f"{stage} gives up offset {offset} of partition {partition} within seconds, if it runs.")


def rewind(
    context: typer.Context,
    stage: StageArgument,
    *,
    partition: Annotated[int | None, typer.Option("--partition", min=0, help="Only this one; unset: all.")] = None,
) -> None:
    """Let a stage whose workers are ended do its input again from the beginning; the memory comes out the same."""
    session = session_of(context)

    async def work() -> int:
        from infra.workers.operating import rewind as again  # noqa: PLC0415

        async with _operated(session, stage) as one:
            return len(await again(one, partition, session.settings().generation))

    count = session.run(work())
    session.messages.print(f"{stage} does {count} partitions again from their beginning when its workers start.")


def pause(context: typer.Context, stage: StageArgument) -> None:
    """Let the workers of a stage take nothing more, and keep their partitions, until `resume`."""
    _pause(session_of(context), stage, paused=True)


def resume(context: typer.Context, stage: StageArgument) -> None:
    """Let a paused stage go on."""
    _pause(session_of(context), stage, paused=False)


def _pause(session: Session, stage: str, *, paused: bool) -> None:
    async def work() -> None:
        from infra.workers.operating import pause as say  # noqa: PLC0415

        async with _operated(session, stage) as one:
            await say(one, paused=paused)

    session.run(work())
    does = "takes nothing more within a second, until `anabranch resume`" if paused else "goes on within a second"
    session.messages.print(f"{stage} {does}.")
