"""The journals of a home, and whether the index that is read lacks something of memory."""

from __future__ import annotations

from pathlib import Path

from infra.home import LOG
from infra.reindex.pointer import generation_folder, load
from streams.journal import Journal
from streams.writers import Writers


def journal_of(home: Path, generation: int, writers: Writers | None = None) -> Journal:
    """Open the journal of a generation; all of them have the log of the first one, and so write in turn."""
    folder = generation_folder(home, generation)
    if folder == home:
        return Journal(home / LOG, writers)
    folder.mkdir(exist_ok=True)
    return Journal(folder / LOG, writers, home / LOG)


def lagging(home: Path, journal: Journal) -> bool:
    """Tell whether a follower has something to do, without opening an index or loading a model."""
    entry = load(home).vectors
    if entry is None:
        return False
    from infra.qdrant import lacking, reached  # noqa: PLC0415 - most homes have no follower, and need no index here

    return bool(lacking(reached(home / entry.folder), journal.remembered()))
