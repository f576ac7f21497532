"""Reindexing a home, in the process that owns it: alone, or beside the memory that goes on there."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from infra.embedded_memory import EmbeddedMemory, Plane
from infra.embedded_plane import EmbeddedPlane, Reader, generation, noted_embedder, open_index
from infra.embedders import Made, make_embedder
from infra.errors import UsageError
from infra.language_models import language_model_of_home
from infra.memory_api import Progress
from infra.nights.derived import take_up
from infra.nights.embedded import EmbeddedGround
from infra.reindex.api import NotReady, Report, Standing, another_is_next
from infra.reindex.checks import must_be_near, must_hold_all
from infra.reindex.entries import another_index, new_generation
from infra.reindex.homes import journal_of
from infra.reindex.pointer import Entry, Pointer, generation_folder, load, store, tidy
from infra.reindex.rows import JournalRows
from infra.reindex.standings import standings
from infra.settings import Settings
from streams.journal import Journal
from streams.kafka.names import FIRST_GENERATION
from streams.metrics import ModelCounts
from streams.replay import Pace, Reembedding


@dataclass
class EmbeddedReindex:
    """Implements ``Reindex`` on a home. ``settings`` name the new embedder; ``memory`` is the home's, open.

    If the memory's plane is in use it goes on: what is built is built beside it, and a switch lets it read that.
    """

    settings: Settings
    memory: EmbeddedMemory
    stack: AsyncExitStack
    _built: dict[str, Reader] = field(default_factory=dict)
    _memories: dict[int, EmbeddedMemory] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The folder."""
        return self.settings.home

    async def vectors(self, report: Report, *, follow: bool = False) -> None:  # noqa: ARG002 - a home's follower is its owner
        """Build another index of the same memory, with the embedder of the settings, until it is caught up."""
        pointer, journal = self._tidied(), self.memory.journal
        noted_embedder(journal)  # what the stages will need beside the new one, after the switch
        entry, made = another_index(self.settings, journal, pointer)
        if pointer.next is None:
            store(self.home, pointer.begun(entry))
        elif pointer.next != entry:
            made.close()
            raise UsageError(another_is_next(pointer.next))
        self._open(entry, journal, made)
        await self._catch_up(entry, report)

    def _open(self, entry: Entry, journal: Journal, made: Made | None = None) -> Reader:
        """Open an index that was begun, once."""
        plane = self.memory.built
        if isinstance(plane, EmbeddedPlane):  # it may have it open
            self._built |= plane.readers
        if entry.folder in self._built and made is not None:
            made.close()
        if entry.folder not in self._built:
            embedder = made or make_embedder(
                entry.embedder, threads=self.settings.threads, key=self.settings.embedder_key
            )
            self.stack.callback(embedder.close)
            with journal.writers.turn():
                journal.by_position().prepare()
            index = open_index(self.home / entry.folder, embedder, entry.generation)
            self.stack.push_async_callback(index.close)
            following = Reembedding(JournalRows(journal), embedder, index)
            self._built[entry.folder] = Reader(index, embedder, following)
        return self._built[entry.folder]

    async def _catch_up(self, entry: Entry, report: Report) -> Reader:
        built = self._open(entry, self.memory.journal)

        def show(pace: Pace) -> None:
            report(Progress(pace.done, pace.total))

        while await built.following.catch_up(show):
            pass
        return built

    async def derive(self, partitions: int | None, report: Report, *, follow: bool = False) -> None:  # noqa: ARG002 - as above
        """Derive a new generation from the log until it is caught up."""
        if partitions is not None:
            msg = "a home has no partitions: leave out --partitions, or set ANABRANCH_KAFKA"
            raise UsageError(msg)
        pointer = self._tidied()
        if pointer.next is not None and pointer.next.kind != "derive":
            raise UsageError(another_is_next(pointer.next))
        entry = pointer.next or new_generation(self.settings, self.memory.journal, pointer)
        if pointer.next is None:
            store(self.home, pointer.begun(entry))
        derived = self._generation(entry.generation, entry.embedder)
        await derived.run(report)
        await take_up(EmbeddedGround(derived, report))

    def _generation(self, number: int, embedder: str | None) -> EmbeddedMemory:
        """Open another generation than the one that lives, once; stages are made when it has something to do."""
        if number not in self._memories:
            journal = journal_of(self.home, number, self.memory.journal.writers)
            self.stack.callback(journal.close)
            self._memories[number] = EmbeddedMemory(journal, partial(self._plane, number, embedder, journal))
        return self._memories[number]

    def _plane(self, number: int, setting: str | None, journal: Journal) -> EmbeddedPlane:
        chosen = journal.noted("embedder") or setting or noted_embedder(journal)
        embedder = make_embedder(chosen, threads=self.settings.threads, key=self.settings.embedder_key)
        self.stack.callback(embedder.close)
        counts = self._models()
        language = language_model_of_home(self.settings, self.home, counts, self.stack)
        plane = generation(self.settings, generation_folder(self.home, number), journal, embedder, number, language)
        plane.models = counts
        journal.note("embedder", chosen)
        self.stack.push_async_callback(plane.close_own)
        return plane

    def _models(self) -> ModelCounts:
        """Return what counts for the memory that lives, where it runs: a new generation is counted with it."""
        plane = self.memory.built
        return plane.models if isinstance(plane, EmbeddedPlane) else ModelCounts()

    async def status(self) -> list[Standing]:
        """Return what there is, what is read first."""
        return standings(self.home, self.memory.journal, self._tidied())

    async def switch(self, report: Report) -> Standing:
        """Let recall read what was built, once it is caught up and its counts are those of memory."""
        pointer = self._tidied()
        entry = pointer.next
        if entry is None:
            msg = "nothing was built to switch to: run `anabranch reindex --vectors` or `--derive` first"
            raise NotReady(msg)
        await self._point(entry, pointer.switched(), report)
        self._tidied()
        return (await self.status())[0]

    async def rollback(self, report: Report) -> Standing:
        """Let recall read again what it read before the last switch."""
        pointer = self._tidied()
        if not pointer.returns:
            msg = "there is nothing to go back to: nothing was switched, or it was rolled back already"
            raise UsageError(msg)
        if pointer.next is not None:  # begun since the switch, and there is one place
            raise UsageError(another_is_next(pointer.next))
        await self._point(pointer.former, pointer.returned(), report)
        return (await self.status())[0]

    async def _point(self, entry: Entry | None, after: Pointer, report: Report) -> None:
        """Bring to now what is to be read, check it, and say so in the pointer; then the open memory reads it too.

        Between the check and the pointer nothing else of this process runs.
        """
        if entry is not None and entry.kind == "vectors" and entry.generation == load(self.home).generation:
            built = await self._catch_up(entry, report)
            await must_hold_all(built.index, self.memory.journal)
            store(self.home, after)
            if isinstance(plane := self.memory.built, EmbeddedPlane):
                plane.read(built)
        elif after.generation == load(self.home).generation:  # back to what commit writes, which is never behind
            store(self.home, after)
            if isinstance(plane := self.memory.built, EmbeddedPlane):
                plane.read_own()
        else:
            await self._live_in(entry, after, report)

    async def _live_in(self, entry: Entry | None, after: Pointer, report: Report) -> None:
        """Go on in another generation, which catches up first."""
        number = FIRST_GENERATION if entry is None else entry.generation
        other = self._generation(number, None if entry is None else entry.embedder)
        is_live = self.memory.built is not None
        if is_live or entry == load(self.home).next:
            await other.run(report)
        if entry is not None and entry == load(self.home).next:
            must_be_near(entry, other)
        if not is_live:
            store(self.home, after)
            return
        self._memories[load(self.home).generation] = EmbeddedMemory(
            self.memory.journal, partial(_the_same, self.memory.plane)
        )
        plane = other.plane
        if entry is not None and entry.kind == "vectors" and isinstance(plane, EmbeddedPlane):
            built = self._open(entry, other.journal)
            await built.following.catch_up()
            plane.read(built)
        store(self.home, after)
        self.memory.live(other.journal, plane)

    async def abandon(self) -> Standing:
        """Remove what was built and is not read; nothing of it stays."""
        pointer = self._tidied()
        entry = pointer.next
        if entry is None:
            msg = "there is nothing to abandon: nothing is being built, and what is read or gone back to stays"
            raise UsageError(msg)
        (standing,) = [one for one in await self.status() if one.role == "next"]
        await self._close(entry)
        store(self.home, pointer.model_copy(update={"next": None}))
        self._tidied()
        return standing

    def _tidied(self) -> Pointer:
        """Return the pointer, with nothing left of what was abandoned or is not gone back to any more."""
        pointer = tidy(self.home)
        if not any(one.kind == "vectors" for one in pointer.made):
            with self.memory.journal.writers.turn():
                self.memory.journal.by_position().forget()
        return pointer

    async def _close(self, entry: Entry) -> None:
        """Let go of what is to be removed."""
        readers = [self._built, *([self.memory.built.readers] if isinstance(self.memory.built, EmbeddedPlane) else [])]
        for open_ones in readers:
            if (reader := open_ones.pop(entry.folder, None)) is not None:
                await reader.index.close()
        derived = self._memories.pop(entry.generation, None) if entry.kind == "derive" else None
        if derived is not None:
            if isinstance(plane := derived.built, EmbeddedPlane):
                await plane.index.close()
            derived.journal.close()


def _the_same(plane: Plane) -> Plane:
    return plane
