"""Waiting for workers: what moves is shown, and when nothing does, why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from infra.loop_thread import LoopThread
from infra.memory_api import Progress
from infra.remote.groups import members
from infra.remote.published import Published
from streams.kafka.names import FIRST_GENERATION

STILL_S: Final = 30.0
"""Seconds in which nothing moves until somebody hears of it: a worker that died is replaced sooner."""
_LOOK_S: Final = 0.1

_log = logging.getLogger(__name__)


@dataclass
class Waiting:
    """Waits until all that was published here has its outcome. Nothing depends on it: it may end at any time."""

    thread: LoopThread
    published: Published
    bootstrap: str
    generation: int = FIRST_GENERATION
    still: float = STILL_S

    async def done(self, progress: Callable[[Progress], None]) -> None:
        """Return when every event has its outcome.

        Raises:
            Unavailable: if the broker does not answer.
        """
        clock = asyncio.get_running_loop()
        seen, since = None, clock.time()
        while (now := await self.thread.ask(self.published.progress())).done < now.total:
            progress(now)
            if now != seen:
                seen, since = now, clock.time()
            elif clock.time() - since >= self.still:
                await self._tell(now)
                since = clock.time()
            await asyncio.sleep(_LOOK_S)
        progress(now)

    async def _tell(self, now: Progress) -> None:
        """Say what stands still, and go on waiting: whoever starts the workers need not begin anew."""
        left = f"{now.total - now.done} events wait, and nothing moved for {self.still:.0f} s"
        found = await asyncio.to_thread(members, self.bootstrap, self.generation)
        lacking = [stage for stage, count in (found or {}).items() if not count]
        if lacking:
            _log.warning("%s: no worker runs %s; start them with `anabranch worker STAGE`", left, ", ".join(lacking))
        else:
            _log.warning("%s, though there are workers; `anabranch worker status` says what each waits for", left)
