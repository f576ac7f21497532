"""Room on the disk, looked at before the engine writes.

The engine writes through the memory it maps, into files that are longer than what they hold. On a full disk such a
write is no error that could be caught: the system ends the process (SIGBUS). So a write begins only where it fits.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from stages.contract import Unavailable

_OPEN: Final = 4 << 20
"""Bytes that opening takes at most: a new shard 2 MB, one that is there what its files lack."""

_WRITE: Final = 16 << 20
"""Bytes that a write leaves alone, for the engine's own files and for what the log notes behind it."""

_ROW: Final = 16 << 10
"""Bytes that a row may take; in conversations it takes 3 KB, with its vector, its words and the log's copy of it."""


def room_to_open(folder: Path) -> None:
    """Check that a shard can be opened in ``folder``, which need not be there yet.

    Raises:
        Unavailable: if the disk has too little left; it may have more when asked again.
    """
    _must_have(folder, _OPEN)


def room_to_write(folder: Path, rows: int) -> None:
    """Check that ``rows`` more can be written in ``folder``.

    Raises:
        Unavailable: likewise.
    """
    _must_have(folder, _WRITE + rows * _ROW)


def _must_have(folder: Path, needed: int) -> None:
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(there).free
    if free < needed:
        msg = (
            f"the disk of {folder} is nearly full: {free >> 20} MB are left and the index needs {needed >> 20} MB; "
            f"make room there, then run again"
        )
        raise Unavailable(msg)
