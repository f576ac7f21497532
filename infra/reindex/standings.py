"""What a home has: what is read, what decides, what was read before, what is being built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.home import INDEX
from infra.qdrant import reached
from infra.qdrant.folder import IndexMismatchError, Manifest, held_in
from infra.reindex.api import Standing
from infra.reindex.homes import journal_of
from infra.reindex.pointer import Entry, Pointer, generation_folder
from streams.journal import Journal
from streams.kafka.names import FIRST_GENERATION
from streams.topology import FIRST


def standings(home: Path, journal: Journal, pointer: Pointer) -> list[Standing]:
    """Return what there is, what is read first. ``journal`` is the open one, of the generation that lives."""
    roles = [("reading", pointer.reading)]
    roles += [("former", pointer.former)] if pointer.returns else []
    roles += [("next", pointer.next)] if pointer.next is not None else []
    found = [_standing(role, entry, home, journal, pointer.generation) for role, entry in roles]
    if pointer.vectors is not None:
        found.insert(1, _of_generation("deciding", pointer.generation, home, journal, pointer.generation))
    return found


def _standing(role: str, entry: Entry | None, home: Path, journal: Journal, living: int) -> Standing:
    if entry is None or entry.kind == "derive":
        number = FIRST_GENERATION if entry is None else entry.generation
        return _of_generation(role, number, home, journal, living)
    with _journal(home, entry.generation, journal, living) as own:
        held = reached(home / entry.folder)
        behind = sum(at - held.get(space, -1) for space, at in own.remembered().items())
    return Standing(
        role=role,
        kind=entry.kind,
        name=entry.folder,
        generation=entry.generation,
        model=entry.model,
        dimension=entry.dimension,
        embedder=entry.embedder,
        behind=behind,
    )


def _of_generation(role: str, number: int, home: Path, journal: Journal, living: int) -> Standing:
    folder = generation_folder(home, number) / INDEX
    manifest, unread = _manifest(folder)
    with _journal(home, number, journal, living) as own:
        return Standing(
            role=role,
            kind="first" if number == FIRST_GENERATION else "derive",
            name=str(folder.relative_to(home)),
            generation=number,
            model=manifest.model if manifest else unread,
            dimension=manifest.dimension if manifest else 0,
            embedder=own.noted("embedder"),
            behind=sum(own.lag(FIRST, space) for space in own.pending(FIRST)),
        )


def _manifest(folder: Path) -> tuple[Manifest | None, str]:
    """Return what an index holds, or why that cannot be told: another version's is what a derivation replaces."""
    try:
        return held_in(folder), "none yet"
    except IndexMismatchError:
        return None, "another version's"


@contextmanager
def _journal(home: Path, number: int, journal: Journal, living: int) -> Iterator[Journal]:
    """Give a generation's journal: the open one, or another that is closed again."""
    if number == living:
        yield journal
        return
    own = journal_of(home, number)
    try:
        yield own
    finally:
        own.close()
