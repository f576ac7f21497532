"""How often a stage crashed at a record, from one start of the process to the next."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from schemas.space import Space

_TABLE = """
CREATE TABLE IF NOT EXISTS crashes (
    stage TEXT NOT NULL, space TEXT NOT NULL, seq INTEGER NOT NULL, times INTEGER NOT NULL, report TEXT NOT NULL,
    PRIMARY KEY (stage, space, seq)) WITHOUT ROWID;
"""

_FRESH_S: Final = 0.5
"""Seconds for which counts hold: to read them at every event took a twentieth of a worker. Another worker's crashes are
asked for when its spaces have come here, which takes longer."""


class CrashBook:
    """Implements ``Crashes`` in an SQLite file: the home's own, or one that the workers of a supervisor share."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._db.execute(_TABLE)
        self._counts: dict[tuple[str, str, int], int] = {}
        self._read_at = float("-inf")

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file for this thread, or make it."""
        database = sqlite3.connect(path, isolation_level=None, timeout=30)
        with suppress(sqlite3.OperationalError):  # another worker makes the file just now, and will have switched it
            database.execute("PRAGMA journal_mode=WAL")
        return cls(database)

    def count(self, stage: str, space: Space, offset: int) -> int:
        """Return how often a stage crashed at a record."""
        now = time.monotonic()  # noqa: TID251 - how long counts hold: no outcome depends on it
        if now >= self._read_at + _FRESH_S:
            rows = self._db.execute("SELECT stage, space, seq, times FROM crashes")
            self._counts = {(stage, space, seq): times for stage, space, seq, times in rows}
            self._read_at = now
        return self._counts.get((stage, space, offset), 0)

    def report(self, stage: str, space: Space, offset: int) -> str:
        """Return what the last crash of a stage at a record said ("" if there was none)."""
        found = self._db.execute(
            "SELECT report FROM crashes WHERE stage = ? AND space = ? AND seq = ?", (stage, space, offset)
        ).fetchone()
        return "" if found is None else str(found[0])

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        """Note a crash durably and return how many that makes."""
        self._db.execute("PRAGMA synchronous=FULL")
        (times,) = self._db.execute(
            "INSERT INTO crashes VALUES (?, ?, ?, 1, ?) "
            "ON CONFLICT DO UPDATE SET times = times + 1, report = excluded.report RETURNING times",
            (stage, space, offset, report),
        ).fetchone()
        self._counts[stage, space, offset] = times
        return int(times)
