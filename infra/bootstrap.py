"""The only place that wires: settings to a memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.embedded_memory import EmbeddedMemory
from infra.embedders import make_embedder
from infra.errors import HomeUnusable
from infra.home import INDEX, LOG, OTHER_MODEL, owned, usable
from infra.memory_api import Memory, Progress
from infra.qdrant import EdgeIndex, IndexMismatchError, lacking, reached
from infra.settings import Settings
from infra.stages import topology
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import Embedder
from stages.recall import Recall
from streams.embedded import Embedded
from streams.journal import Journal
from streams.locate import StateLocalizer
from streams.patience import Patience

GENERATION = 1
"""Of the embedded index; ``reindex`` will count it up."""

PATIENCE = Patience(tries=4)
"""A command waits for what does not answer about a second and a half, then says so (exit code 3)."""


@dataclass(frozen=True, slots=True)
class _Plane:
    runtime: Embedded
    recall: Recall
    index: EdgeIndex
    close_embedder: Callable[[], None]

    async def close(self) -> None:
        """Let go of the index and of the models that were made here."""
        await self.index.close()
        self.close_embedder()


def _plane(settings: Settings, home: Path, journal: Journal, shared: Embedder | None) -> _Plane:
    own = make_embedder(settings.embedder, threads=settings.threads) if shared is None else None
    embedder: Embedder = shared or own  # type: ignore[assignment]  # one of the two is there
    journal.pin("model", embedder.model, OTHER_MODEL)
    _must_be_whole(home, journal)
    try:
        index = EdgeIndex.open(home / INDEX, generation=GENERATION, model=embedder.model, dimension=embedder.dimension)
    except IndexMismatchError as error:
        raise HomeUnusable(str(error)) from error
    runtime = Embedded(topology(embedder, index, settings.max_text), journal, index, PATIENCE)
    localizer = StateLocalizer(
        normalize=lambda given: Normalize(given, index, settings.max_text),
        localize=LocalizeState(index),
        embedder=embedder,
        store=runtime.store,
    )
    return _Plane(runtime, Recall(index, embedder, localizer), index, own.close if own else lambda: None)


def _must_be_whole(home: Path, journal: Journal) -> None:
    """Refuse an index that lacks what memory holds: recall would be empty there, and nothing would say so.

    Raises:
        HomeUnusable: if it does. The index is written before the log says so: no death of a process does this.
    """
    held, remembered = reached(home / INDEX), journal.remembered()
    for space in lacking(held, remembered):
        msg = (
            f"the index in {home} holds {space} up to position {held.get(space, -1)}, "
            f"memory up to {remembered[space]}; restore the home from a backup, "
            "or ingest its turns into another ANABRANCH_HOME"
        )
        raise HomeUnusable(msg)


@asynccontextmanager
async def open_memory(
    settings: Settings,
    *,
    wait: bool = True,
    progress: Callable[[Progress], None] | None = None,
    embedder: Embedder | None = None,
) -> AsyncIterator[Memory]:
    """Open the memory that the settings name; with ``wait``, first finish what is pending.

    ``embedder`` stands in for the one that the settings name (a benchmark shares a warm one between homes).

    Raises:
        HomeBusy: if another process owns the home.
        HomeUnusable: if the home cannot be used, or belongs to another version or model.
        ModelMissing: if something is pending and the model is not there.
        MissingError: if the settings name a Kafka that does not answer.
    """
    async with AsyncExitStack() as stack:
        if settings.kafka is not None:
            from infra.remote import open_remote  # noqa: PLC0415 - the embedded mode must not load the clients

            yield await stack.enter_async_context(open_remote(settings, wait=wait))
            return
        stack.enter_context(usable(settings.home))
        home = stack.enter_context(owned(settings.home))
        journal = Journal(home / LOG)
        stack.callback(journal.close)

        def built() -> _Plane:
            plane = _plane(settings, home, journal, embedder)
            stack.push_async_callback(plane.close)
            return plane

        memory = EmbeddedMemory(journal, built)
        if wait:
            await memory.run(progress)
        yield memory
