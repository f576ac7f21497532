"""The stages, the read side and the index of a home, wired to the models that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from infra.embedders import make_embedder
from infra.errors import HomeUnusable
from infra.home import INDEX, OTHER_MODEL
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
class EmbeddedPlane:
    """Implements ``infra.embedded_memory.Plane`` on an index in process."""

    runtime: Embedded
    recall: Recall
    index: EdgeIndex
    close_embedder: Callable[[], None]

    async def close(self) -> None:
        """Let go of the index and of the models that were made here."""
        await self.index.close()
        self.close_embedder()


def build(settings: Settings, home: Path, journal: Journal, shared: Embedder | None) -> EmbeddedPlane:
    """Open the index of a home and load its models; ``shared`` is used in place of the embedder of the settings.

    Raises:
        HomeUnusable: if the home belongs to another model, or its index lacks what memory holds.
        ModelMissing: if the model is not there.
    """
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
    return EmbeddedPlane(runtime, Recall(index, embedder, localizer), index, own.close if own else lambda: None)


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
