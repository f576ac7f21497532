"""On a cluster: whether an index is near enough to what its generation's commit writes to be read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from infra.index import deciding_alias
from infra.memory_api import Progress
from infra.qdrant.server import ServerIndex
from infra.qdrant.server_roles import DECIDING, Collection, Roles
from infra.reindex.api import NotReady, Report
from infra.reindex.checks import must_hold_the_same
from infra.reindex.collections import lag_of, opened
from infra.reindex.deriving import Reached
from infra.settings import Settings

_LOOK_S: Final = 0.2

_NEAR_S: Final = 30.0
"""Seconds that a switch waits for the follower to come to where commit was when it was asked for."""


async def must_be_near(settings: Settings, roles: Roles, new: Collection, report: Report) -> None:
    """Wait until an index is near: a generation less than a window behind the log, another index where commit is now.

    ``settings`` are those of the generation whose workers run.

    Raises:
        NotReady: if it does not come near soon, saying what brings it on, or holds something else than it should.
    """
    number = new.manifest.generation
    if new.ends is not None or number != settings.generation:
        await _derived(settings.model_copy(update={"generation": number}), new, report)
    if new.ends is not None:
        return
    written = (await replace(roles, deciding=deciding_alias(number)).held()).get(DECIDING)
    if written is None:
        msg = f"no commit of generation {number} writes an index to compare {new.name} with"
        raise NotReady(msg)
    if written.name != new.name:
        await _followed(opened(roles, written), opened(roles, new), report, _command(settings, new))


def _command(settings: Settings, new: Collection) -> str:
    """Return what brings an index on."""
    number = new.manifest.generation
    other = "" if number == settings.generation else f"ANABRANCH_GENERATION={number} "
    return f"{other}ANABRANCH_EMBEDDER={new.embedder or new.manifest.model} anabranch reindex --vectors"


async def _derived(own: Settings, entry: Collection, report: Report) -> None:
    """Wait until a generation has finished what was in the log when it began, and is less than a window behind."""
    reached = Reached(own)
    try:
        async with asyncio.timeout(_NEAR_S):
            await reached.caught_up(entry.ends or (), report)
    except TimeoutError:
        msg = (
            f"generation {own.generation} is not caught up: its workers bring it on (`anabranch reindex --derive`, or "
            f"`anabranch worker` with ANABRANCH_GENERATION={own.generation})"
        )
        raise NotReady(msg) from None
    finally:
        await reached.close()


async def _followed(written: ServerIndex, new: ServerIndex, report: Report, command: str) -> None:
    """Wait until an index is where commit is now, and compare the two there."""
    goals = await written.every_watermark()
    lag = total = sum(at + 1 for at in goals.values())
    try:
        async with asyncio.timeout(_NEAR_S):
            while (lag := await lag_of(new, goals)) > 0:
                report(Progress(total - lag, total))
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        msg = f"the index is {lag} events behind: `{command}` once more brings it on"
        raise NotReady(msg) from None
    await must_hold_the_same(written, new, goals)
