"""The stages, the read side and the index of a home, wired to the models that the settings name."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from infra.embedders import make_embedder
from infra.errors import HomeUnusable
from infra.home import INDEX, OTHER_MODEL
from infra.language_models import language_model_of_home
from infra.qdrant import EdgeIndex, IndexMismatchError, lacking, reached
from infra.reindex.pointer import Entry, generation_folder, load
from infra.reindex.rows import JournalRows
from infra.rerankers import BoundedReranker, make_reranker
from infra.settings import Settings
from infra.stages import topology_of
from stages.localize_state import LocalizeState
from stages.normalize import Normalize
from stages.ports import Embedder, LanguageModel
from stages.recall import Recall
from streams.embedded import Embedded
from streams.journal import Journal
from streams.locate import StateLocalizer
from streams.metrics import ModelCounts
from streams.patience import Patience
from streams.replay import Reembedding

LANGUAGE_MODEL = "language_model"
"""What a generation notes the language model under that last worked on it. Another may go on: its answers differ."""

PATIENCE = Patience(tries=4)
"""A command waits for what does not answer about a second and a half, then says so (exit code 3)."""


@dataclass(frozen=True, slots=True)
class Reader:
    """An open index of another model than the stages', with its embedder and what writes it."""

    index: EdgeIndex
    embedder: Embedder
    following: Reembedding


@dataclass(slots=True)
class EmbeddedPlane:
    """Implements ``infra.embedded_memory.Plane`` on an index in process.

    ``decider`` is the embedder of stages and states, ``index`` what commit writes. Recall reads the same one, or one of
    another model that ``follower`` brings up to it; see ``read``. ``readers`` are the open ones of those, by folder.
    ``models`` counts what the language model is asked; ``language`` is that model, if the stages have one.
    """

    runtime: Embedded
    decider: Embedder
    index: EdgeIndex
    localizer: StateLocalizer
    recall: Recall
    closing: AsyncExitStack
    follower: Reembedding | None = None
    readers: dict[str, Reader] = field(default_factory=dict)
    models: ModelCounts = field(default_factory=ModelCounts)
    language: LanguageModel | None = None

    def read(self, reader: Reader) -> None:
        """Let questions from now on read another index; one that is under way keeps to what it began with."""
        self.recall = Recall(reader.index, reader.embedder, self.localizer, self.recall.reranker)
        self.follower = reader.following

    def read_own(self) -> None:
        """Let questions read what commit writes."""
        self.recall = Recall(self.index, self.decider, self.localizer, self.recall.reranker)
        self.follower = None

    async def close_own(self) -> None:
        """Let go of what ``generation`` opened."""
        if isinstance(self.recall.reranker, BoundedReranker):
            self.recall.reranker.close()
        await self.index.close()

    async def close(self) -> None:
        """Let go of the indexes and of the models that were made here."""
        await self.closing.aclose()


def build(
    settings: Settings, home: Path, journal: Journal, shared: Embedder | None, counts: ModelCounts | None = None
) -> EmbeddedPlane:
    """Open the indexes of a home and load its models; ``shared`` is used in place of the embedder of the settings.

    ``counts`` takes what the language model is asked.

    Raises:
        HomeUnusable: if the home belongs to another model, or its index lacks what memory holds.
        ModelMissing: if the model is not there.
    """
    pointer, stack = load(home), AsyncExitStack()
    asked = shared or _made(settings.embedder, settings, stack)
    if pointer.vectors is None:
        decider = asked
    else:
        _must_be(asked, pointer.vectors)
        decider = _made(noted_embedder(journal), settings, stack)
    folder = generation_folder(home, pointer.generation)
    models = ModelCounts() if counts is None else counts
    language = language_model_of_home(settings, home, models, stack)
    plane = generation(settings, folder, journal, decider, pointer.generation, language)
    plane.models = models
    stack.push_async_callback(plane.close_own)
    plane.closing = stack
    if pointer.vectors is not None:
        other = open_index(home / pointer.vectors.folder, asked, pointer.generation)
        stack.push_async_callback(other.close)
        reader = Reader(other, asked, Reembedding(JournalRows(journal), asked, other))
        plane.readers[pointer.vectors.folder] = reader
        plane.read(reader)
    elif shared is None:
        journal.note("embedder", settings.embedder)  # what `reindex --vectors` makes the stages' own from
    return plane


def generation(  # noqa: PLR0917 - what a generation is made of
    settings: Settings,
    folder: Path,
    journal: Journal,
    embedder: Embedder,
    number: int,
    language: LanguageModel | None = None,
) -> EmbeddedPlane:
    """Open the index that a generation's commit writes, with its stages; whoever calls closes it.

    Raises:
        HomeUnusable: if the folder belongs to another model, or its index lacks what memory holds.
    """
    journal.pin("model", embedder.model, OTHER_MODEL)
    _must_be_whole(folder, journal)
    index = open_index(folder / INDEX, embedder, number)
    if language is not None:
        journal.note(LANGUAGE_MODEL, language.model)
    runtime = Embedded(topology_of(settings, embedder, index, language), journal, index, PATIENCE)
    localizer = StateLocalizer(
        normalize=lambda given: Normalize(given, index, settings.max_text),
        localize=LocalizeState(index),
        embedder=embedder,
        store=runtime.store,
    )
    recall = Recall(index, embedder, localizer, make_reranker(settings))
    return EmbeddedPlane(runtime, embedder, index, localizer, recall, AsyncExitStack(), language=language)


def open_index(folder: Path, embedder: Embedder, number: int) -> EdgeIndex:
    """Open an index of a home.

    Raises:
        HomeUnusable: if it is of another generation or model.
    """
    try:
        return EdgeIndex.open(folder, generation=number, model=embedder.model, dimension=embedder.dimension)
    except IndexMismatchError as error:
        raise HomeUnusable(str(error)) from error


def noted_embedder(journal: Journal) -> str:
    """Return the setting that named the embedder of a home's stages.

    Raises:
        HomeUnusable: if no version that notes it has worked with the home yet.
    """
    noted = journal.noted("embedder")
    if noted is None:
        msg = (
            f"which embedder wrote {journal.path.parent} is not noted there: run `anabranch recall` or `ingest` on it "
            "once, with ANABRANCH_EMBEDDER as it was"
        )
        raise HomeUnusable(msg)
    return noted


def _made(choice: str, settings: Settings, stack: AsyncExitStack) -> Embedder:
    made = make_embedder(choice, threads=settings.threads, key=settings.embedder_key)
    stack.callback(made.close)
    return made


def _must_be(asked: Embedder, entry: Entry) -> None:
    if (asked.model, asked.dimension) != (entry.model, entry.dimension):
        msg = (
            f"this home is read by model {entry.model!r}, dimension {entry.dimension}, but {asked.model!r}, dimension "
            f"{asked.dimension}, is asked for; set ANABRANCH_EMBEDDER to {entry.embedder}, or go back by "
            "`anabranch reindex rollback`"
        )
        raise HomeUnusable(msg)


def _must_be_whole(folder: Path, journal: Journal) -> None:
    """Refuse an index that lacks what memory holds: recall would be empty there, and nothing would say so.

    Raises:
        HomeUnusable: if it does. The index is written before the log says so: no death of a process does this.
    """
    held, remembered = reached(folder / INDEX), journal.remembered()
    for space in lacking(held, remembered):
        msg = (
            f"the index in {folder} holds {space} up to position {held.get(space, -1)}, "
            f"memory up to {remembered[space]}; restore the home from a backup, "
            "or ingest its turns into another ANABRANCH_HOME"
        )
        raise HomeUnusable(msg)
