"""A plant that is ready: every worker has its partitions before a clock starts."""

from __future__ import annotations

import asyncio
from typing import Final

from infra.bench.kafka.load import Load
from infra.bench.kafka.phases import Course
from infra.bench.kafka.plant import Plant
from infra.bench.kafka.serving import serving

_LOOK_S: Final = 0.5
_START_S: Final = 180.0
"""Until all workers serve; a dozen processes start one after the other on two cores."""


async def served(it: Plant) -> None:
    """Wait until every worker serves; one that ends before is started again, as a supervisor does.

    Raises:
        TimeoutError: if some do not serve after three minutes.
    """
    async with asyncio.timeout(_START_S):
        while len(await asyncio.to_thread(serving, it.broker.bootstrap, it.workers)) < len(it.workers):
            it.revive()
            await asyncio.sleep(_LOOK_S)


async def warm(it: Plant, partitions: int) -> None:
    """Wait until every worker serves, then let some turns go through in spaces of their own.

    Raises:
        TimeoutError: if some do not serve after three minutes.
    """
    await served(it)
    await Course(it.broker.bootstrap, partitions).go(Load(turns=48, spaces=48, seed=0, tenant="warm"))
