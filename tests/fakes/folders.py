"""Folders for tests that make many small indexes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory where the system has one: an index makes a hundred fsyncs a write, each some ms on a disk."""
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        yield Path(folder)
