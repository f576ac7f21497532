"""Watermarks in an SQLite file: the index of stages that do nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from schemas.committed import Committed
from schemas.space import Space


class MarksIndex:
    """Implements ``IndexWriter`` and ``Watermarked``: no records, watermarks only."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute("CREATE TABLE IF NOT EXISTS marks (space TEXT PRIMARY KEY, position INTEGER) WITHOUT ROWID")

    async def write(self, space: Space, batch: Sequence[Committed]) -> None:
        """Raise the watermark of a space."""
        self._db.execute(
            "INSERT INTO marks VALUES (?, ?) ON CONFLICT DO UPDATE SET position = MAX(position, excluded.position)",
            (space, batch[-1].header.position),
        )

    async def watermarks(self, spaces: Sequence[Space]) -> list[int]:
        """Return the watermark of each space."""
        read = "SELECT position FROM marks WHERE space = ?"
        return [(self._db.execute(read, (space,)).fetchone() or (-1,))[0] for space in spaces]
