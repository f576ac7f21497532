"""How often a stage crashed at a record, from one start of the process to the next."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Self

from schemas.space import Space

_TABLE = """
CREATE TABLE IF NOT EXISTS crashes (
    stage TEXT NOT NULL, space TEXT NOT NULL, seq INTEGER NOT NULL, times INTEGER NOT NULL, report TEXT NOT NULL,
    PRIMARY KEY (stage, space, seq)) WITHOUT ROWID;
"""


class CrashBook:
    """Implements ``Crashes`` in an SQLite file: the home's own, or one that the workers of a supervisor share."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._db.execute(_TABLE)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file for this thread, or make it: asked at every event, which takes half the time with WAL."""
        database = sqlite3.connect(path, isolation_level=None, timeout=30)
        with suppress(sqlite3.OperationalError):  # another worker makes the file just now, and will have switched it
            database.execute("PRAGMA journal_mode=WAL")
        return cls(database)

    def count(self, stage: str, space: Space, offset: int) -> int:
        """Return how often a stage crashed at a record."""
        found = self._row(stage, space, offset)
        return 0 if found is None else int(found[0])

    def report(self, stage: str, space: Space, offset: int) -> str:
        """Return what the last crash of a stage at a record said ("" if there was none)."""
        found = self._row(stage, space, offset)
        return "" if found is None else str(found[1])

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        """Note a crash durably and return how many that makes."""
        self._db.execute("PRAGMA synchronous=FULL")
        (times,) = self._db.execute(
            "INSERT INTO crashes VALUES (?, ?, ?, 1, ?) "
            "ON CONFLICT DO UPDATE SET times = times + 1, report = excluded.report RETURNING times",
            (stage, space, offset, report),
        ).fetchone()
        return int(times)

    def _row(self, stage: str, space: Space, offset: int) -> tuple[int, str] | None:
        row: tuple[int, str] | None = self._db.execute(
            "SELECT times, report FROM crashes WHERE stage = ? AND space = ? AND seq = ?", (stage, space, offset)
        ).fetchone()
        return row
