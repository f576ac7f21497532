"""The SQLite file of a home: its tables, its version, its transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.crashes import CrashBook
from streams.stopped import WrongHome
from streams.writers import Writers

VERSION = 2
"""Of the tables below; a home of another version is refused, since it would be read wrongly."""

OTHER_VERSION = "start the version of anabranch that wrote it, or name another ANABRANCH_HOME"

_LOG = """
CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, own INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS log_space ON log (space, seq);
"""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, space TEXT NOT NULL, position INTEGER NOT NULL,
    marker INTEGER NOT NULL, header BLOB NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS records_position ON records (topic, space, position);
CREATE TABLE IF NOT EXISTS memory (
    space TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (
    stage TEXT NOT NULL, space TEXT NOT NULL, part TEXT NOT NULL, slot INTEGER NOT NULL, version INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (stage, space, part, slot)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lanes (
    stage TEXT NOT NULL, space TEXT NOT NULL, next INTEGER NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (stage, space)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS letters (letter_id TEXT PRIMARY KEY, space TEXT NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS letters_space ON letters (space);
"""


class Tables:
    """One SQLite file in WAL mode, used from one thread. Threads with a ``Tables`` each share their ``writers``.

    What clients were told is durable (``append``) is synced to the disk; the rest can be made again from it, so it
    need not be: a crash of the process loses nothing, a crash of the machine only work that is repeated.

    The first generation's file holds the log. A later one has no table of that name and names the file that has it, as
    ``log``: so its statements mean that one, and an event is in all generations once it is in the log.
    """

    def __init__(self, path: Path, writers: Writers | None = None, log: Path | None = None) -> None:
        self.path, self.log = path, log
        self.writers = writers or Writers()
        self._db = sqlite3.connect(path, isolation_level=None)
        try:
            self._refuse_other()
            with self.writers.turn():
                self._db.execute("PRAGMA journal_mode=WAL")
                if log is not None:
                    self._db.execute("ATTACH ? AS first", (str(log),))
                    self._db.execute("PRAGMA first.synchronous=FULL")  # the log: what clients were told
                self._db.executescript(_SCHEMA if log is not None else _LOG + _SCHEMA)
                self.crashes = CrashBook(self._db)
        except sqlite3.OperationalError:  # the disk, not the file
            self._db.close()
            raise
        except sqlite3.Error as error:
            self._db.close()
            msg = f"{path} cannot be used ({error}); restore it from a backup, or name another ANABRANCH_HOME"
            raise WrongHome(msg) from error
        self.pin("version", str(VERSION), OTHER_VERSION)

    def _refuse_other(self) -> None:
        """Refuse a file of another version before anything is written to it."""
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            self.pin("version", str(VERSION), OTHER_VERSION)

    def close(self) -> None:
        """Close the file; what was acknowledged is durable."""
        self._db.close()

    def pin(self, name: str, value: str, way_out: str) -> None:
        """Note a property of the home at its first use, and refuse another one later.

        Raises:
            WrongHome: if the home has another value.
        """
        with self.writers.turn():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
        (known,) = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if known != value:
            msg = f"this home has {name} {known!r}, but {value!r} is asked for; {way_out}"
            raise WrongHome(msg)

    def note(self, name: str, value: str) -> None:
        """Note a property of the home that may change."""
        with self.writers.turn():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str | None:
        """Return a property of the home, if it was noted."""
        found = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def noted_under(self, prefix: str) -> dict[str, str]:
        """Return the properties whose names begin with ``prefix``, by the rest of their names."""
        found = self._db.execute(
            "SELECT name, value FROM meta WHERE substr(name, 1, ?) = ? ORDER BY name", (len(prefix), prefix)
        )
        return {name[len(prefix) :]: value for name, value in found}

    @contextmanager
    def transaction(self, *, synced: bool = False) -> Iterator[None]:
        """Make what is written inside durable together; with ``synced`` it is on the disk at the end."""
        with self.writers.turn():
            self._db.execute(f"PRAGMA synchronous={'FULL' if synced else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite has ended it itself where the disk is full
                    self._db.execute("ROLLBACK")
                raise
