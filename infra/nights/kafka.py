"""A cluster as what a run stands on: a snapshot of ``memory``, the log, and workers that do the rest."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.embedders import make_embedder
from infra.index import readable, setting_of
from infra.language_models import kept_language_model
from infra.nights.api import Decider, Held, Look, Report
from infra.nights.deciding import decider_of
from infra.nights.ownership import Owner, owned
from infra.reindex.following import FollowedMemory
from infra.remote import KafkaMemory, open_remote
from infra.settings import Settings
from infra.workers.child import servers_of
from infra.workers.producer import producing
from infra.workers.results import topic_results
from schemas.space import Space
from stages.ports import Embedder, LanguageModel
from streams.metrics import ModelCounts


@dataclass(slots=True)
class KafkaGround:
    """Implements ``Ground`` on a cluster. ``report`` hears what workers still have to do.

    ``folder`` is for copies of topics that are made anew by each process.
    """

    settings: Settings
    memory: KafkaMemory
    followed: FollowedMemory
    folder: Path
    report: Report
    stack: AsyncExitStack
    make: Callable[[Embedder, LanguageModel | None], Decider] = decider_of
    _decider: Decider | None = field(default=None)

    async def look(self) -> Look:
        """Read ``memory`` to its end, and return what it holds."""
        await self.followed.refresh()
        snapshot = self.followed.snapshot
        return Look(snapshot.reached(), snapshot.of)

    async def caught_up(self, spaces: Sequence[Space]) -> None:
        """Wait a while for workers; a space that is far behind is decided on as it is."""
        for space in spaces:
            await self.memory.thread.ask(self.memory.topics.standings.settled(space))

    async def publish(self, space: Space, event_ids: Sequence[str], payloads: Sequence[bytes]) -> None:  # noqa: ARG002 - for who waits by them
        """Append control events to the log."""
        await self.memory.publish(space, payloads, own=True)

    async def settled(self) -> None:
        """Wait until workers have done what was published here."""
        await self.memory.run(self.report)

    def held(self, tenant: str) -> AbstractAsyncContextManager[Held]:
        """Own a tenant inside the block, by its consumer group."""
        layout, snapshot = self.followed.layout, self.followed.snapshot
        offsets = {part: snapshot.next(part) for part in range(layout.partitions[layout.memory])}
        return owned(Owner(layout.bootstrap, layout.memory, tenant, layout.generation, offsets))

    async def decider(self) -> Decider:
        """Return what decides, with the embedder and the language model of the workers."""
        if self._decider is None:
            setting = self.settings.embedder
            if (deciding := (await readable(self.settings)).deciding) is not None:
                setting = setting_of(deciding)
            embedder = make_embedder(setting, threads=self.settings.threads, key=self.settings.embedder_key)
            self.stack.callback(embedder.close)
            self._decider = self.make(embedder, await self._language())
        return self._decider

    async def _language(self) -> LanguageModel | None:
        if self.settings.language_model is None:
            return None
        servers = servers_of(self.settings)
        results = topic_results(servers)
        sending = await self.stack.enter_async_context(producing(servers, "anabranch-consolidate", [results.topic]))
        await self.stack.enter_async_context(results.opened(sending, self.folder))
        return kept_language_model(self.settings, results, ModelCounts(), self.stack)


@asynccontextmanager
async def open_kafka_ground(settings: Settings, report: Report) -> AsyncIterator[KafkaGround]:
    """Open the memory of a cluster for runs.

    Raises:
        MissingError: if the cluster does not answer, or lacks topics.
    """
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_remote(settings))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="anabranch-night-")))
        followed = FollowedMemory(memory.topics.layout, folder / "memory.sqlite")
        stack.push_async_callback(followed.close)
        yield KafkaGround(settings, memory, followed, folder, report, stack)
