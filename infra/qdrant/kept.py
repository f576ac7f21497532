"""What a process keeps in memory of an index: at most so many, those kept longest go."""

from __future__ import annotations

from itertools import islice
from typing import Final, TypeVar

ROWS: Final = 4096
"""Records kept in memory (about 25 MB): parsing one costs 30 us, and neighbouring turns find the same ones."""

_Name = TypeVar("_Name")
_Kept = TypeVar("_Kept")


def keep(kept: dict[_Name, _Kept], new: dict[_Name, _Kept], size: int) -> None:
    """Add to what is kept, at most ``size``; those kept longest go."""
    kept |= new
    for name in list(islice(kept, max(0, len(kept) - size))):
        del kept[name]
