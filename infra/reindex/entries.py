"""What a reindex of a home is going to make."""

from __future__ import annotations

from hashlib import blake2b

from infra.embedders import Made, make_embedder
from infra.errors import UsageError
from infra.reindex.pointer import Entry, Pointer, generation_folder
from infra.settings import Settings
from streams.journal import Journal
from streams.kafka.names import FIRST_GENERATION


def another_index(settings: Settings, journal: Journal, pointer: Pointer) -> tuple[Entry, Made]:
    """Return an index of the memory with the embedder of the settings, and that embedder.

    Raises:
        UsageError: if the home has one already.
    """
    made = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    number = pointer.generation
    digest = blake2b(f"{number} {made.model} {made.dimension}".encode(), digest_size=4).hexdigest()
    entry = Entry(
        kind="vectors",
        folder=f"index-g{number}-d{made.dimension}-{digest}",
        generation=number,
        embedder=settings.embedder,
        model=made.model,
        dimension=made.dimension,
    )
    in_use = {journal.noted("model"), pointer.reading and pointer.reading.model}
    if made.model in in_use or entry == pointer.former:
        made.close()
        back = ": `anabranch reindex rollback` reads it again" if pointer.returns else ""
        msg = f"this home has an index of {made.model} already{back}; set ANABRANCH_EMBEDDER to another one"
        raise UsageError(msg)
    return entry, made


def new_generation(settings: Settings, journal: Journal, pointer: Pointer) -> Entry:
    """Return the generation after those that were made, which is to finish what the log holds now."""
    made = make_embedder(settings.embedder, threads=settings.threads, key=settings.embedder_key)
    number = 1 + max([FIRST_GENERATION, *(one.generation for one in pointer.made)])
    entry = Entry(
        kind="derive",
        folder=generation_folder(settings.home, number).name,
        generation=number,
        embedder=settings.embedder,
        model=made.model,
        dimension=made.dimension,
        end=journal.newest(),
    )
    made.close()
    return entry
