"""The last position of each space whose records are all in the index, kept beside the shard.

Not a point of the shard: its change would be made durable in the same flush as the records that it vouches for, and a
power cut in the middle of that flush could keep the one and lose the others. A second flush for it costs 110 ms where
one SQLite commit costs a single fsync of 4 ms (measured on the same disk).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final, Self

from schemas.space import Space
from stages.contract import Unavailable

FILE: Final = "watermarks.sqlite"
"""Its name in the folder of an index."""


class Watermarks:
    """Positions by space; they only rise. All of them are held in memory too, since admission asks often."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._positions: dict[str, int] = dict(connection.execute("SELECT space, position FROM watermark"))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the file. It is used by the thread that opened it."""
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk when it returns
        connection.execute("CREATE TABLE IF NOT EXISTS watermark (space TEXT PRIMARY KEY, position INTEGER NOT NULL)")
        return cls(connection)

    def get(self, space: Space) -> int:
        """Return the position of a space, -1 if it has none."""
        return self._positions.get(space, -1)

    def rise(self, space: Space, position: int) -> None:
        """Raise the position of a space durably; a lower one changes nothing.

        Raises:
            Unavailable: if the file cannot be written.
        """
        if position <= self.get(space):
            return
        try:
            self._connection.execute("INSERT OR REPLACE INTO watermark VALUES (?, ?)", (space, position))
        except sqlite3.Error as error:
            msg = f"the watermark of {space} cannot be written: {error}"
            raise Unavailable(msg) from error
        self._positions[space] = position

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
