"""A home embedded or derived anew while it is served, in the process that owns it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from infra.bootstrap import reindex_of
from infra.embedded_memory import EmbeddedMemory
from infra.errors import AnabranchError
from infra.memory_api import Progress
from infra.reindex.api import NotReady, Reindex
from infra.reindex.pointer import Pointer, load
from infra.settings import Settings
from stages.contract import Unavailable
from streams.kafka.names import FIRST_GENERATION
from streams.stopped import Stopped

_TELL_S: Final = 10.0
_AGAIN_S: Final = 10.0
"""Seconds until it is tried again after a model or the disk did not answer, or the log had moved on."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Renewal:
    """What is asked for: another index with ``embedder``, or (none) a new generation; ``switch``: to read it then."""

    embedder: str | None
    switch: bool

    def is_done(self, pointer: Pointer) -> bool:
        """Tell whether it was switched to already, so that a service may be started again as it was."""
        if pointer.next is not None:
            return False
        if self.embedder is None:
            return pointer.generation > FIRST_GENERATION
        return pointer.vectors is not None and pointer.vectors.embedder == self.embedder

    def given(self, settings: Settings) -> Settings:
        """Return the settings to open the home with: after the switch it is read by what was asked for."""
        done = self.embedder is not None and self.is_done(load(settings.home))
        return settings.model_copy(update={"embedder": self.embedder}) if done else settings

    async def work(self, settings: Settings, memory: EmbeddedMemory) -> None:
        """Build it beside the memory that goes on, and switch if that is asked for; what ends it is logged."""
        if self.is_done(load(settings.home)):
            _log.warning("what is asked for is read already: leave it out", extra={"event": "reindex done"})
            return
        named = settings if self.embedder is None else settings.model_copy(update={"embedder": self.embedder})
        async with AsyncExitStack() as stack:
            work = reindex_of(named, memory, stack)
            while not await self._tried(work):  # noqa: ASYNC110 - a model or a disk is waited for
                await asyncio.sleep(_AGAIN_S)
            await asyncio.Event().wait()  # what it opened is in use until the memory ends

    async def _tried(self, work: Reindex) -> bool:
        """Return whether there is nothing left to try."""
        try:
            await self._done(work)
        except (NotReady, Unavailable, Stopped) as error:
            _log.warning("the reindex goes on in %.0f s: %s", _AGAIN_S, error, extra={"event": "reindex waits"})
            return False
        except AnabranchError as error:  # wrong use: the same again would end the same
            _log.error("no reindex: %s", error, extra={"event": "reindex refused"})
        except Exception:  # noqa: BLE001 - a bug ends no service, and is not ended in silence
            _log.exception("the reindex stopped, and goes on in %.0f s", _AGAIN_S, extra={"event": "reindex stopped"})
            return False
        return True

    async def _done(self, work: Reindex) -> None:
        tell = _Telling()
        if self.embedder is None:
            await work.derive(None, tell)
        else:
            await work.vectors(tell)
        _log.info("the reindex is caught up", extra={"event": "reindex caught up"})
        if self.switch:
            standing = await work.switch(tell)
            told = {"event": "reindex switched", "embedder": standing.embedder, "generation": standing.generation}
            _log.info("recall reads %s (%s)", standing.name, standing.model, extra=told)


class _Telling:
    """Logs progress now and then."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, progress: Progress) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._due:
            self._due = now + _TELL_S
            told = {"event": "reindex", "done": progress.done, "total": progress.total}
            _log.info("reindexed %d of %d events", progress.done, progress.total, extra=told)
