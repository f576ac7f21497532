"""A partition of models' answers on the local disk: what was read of it, and up to where."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from streams.kafka.wire import Record

_SCHEMA: Final = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS cursor (one INTEGER PRIMARY KEY CHECK (one = 1), next INTEGER NOT NULL, last BLOB NOT NULL);
"""
_CURSOR: Final = "INSERT OR REPLACE INTO cursor VALUES (1, ?, ?)"


class OtherTopic(Exception):  # noqa: N818 - named for the condition
    """The partition is not the one that was copied: the topic was made anew. The copy is empty again."""


class ResultCopy:
    """The first answer of each key of a partition, with the offset from which to read on.

    Rows and offset are written together. The copy can be made again from the topic, so it is not synced, and one that
    is damaged is thrown away.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._open()
        except sqlite3.OperationalError:  # the disk, not the file
            raise
        except sqlite3.DatabaseError:
            self.throw_away()
            self._open()

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._is_checked = False
        found = self._db.execute("SELECT next, last FROM cursor").fetchone()
        self.next: int = 0 if found is None else found[0]
        self._last: bytes = b"" if found is None else found[1]

    def throw_away(self) -> None:
        """Close and remove it."""
        self._db.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    @property
    def start(self) -> int:
        """Where a reader begins: at the last record that was copied, which shows that the topic is the same."""
        return max(0, self.next - 1)

    def get(self, key: str) -> bytes | None:
        """Return the first answer of a key, as far as the partition was read."""
        found = self._db.execute("SELECT body FROM answers WHERE key = ?", (key,)).fetchone()
        return None if found is None else found[0]

    def take(self, records: Sequence[Record]) -> None:
        """Take what was read next; what is known already is passed over.

        Raises:
            OtherTopic: if what is there is not what was copied.
        """
        if not records:
            return
        if not self._is_checked:
            self._must_be_the_same(records[0])
        fresh = [record for record in records if record.offset >= self.next]
        if not fresh:
            return
        rows = [(record.key.decode(), record.value) for record in fresh if record.key is not None and record.value]
        with self._together():
            self._db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
            self._db.execute(_CURSOR, (fresh[-1].offset + 1, _mark(fresh[-1])))
        self.next, self._last = fresh[-1].offset + 1, _mark(fresh[-1])

    def _must_be_the_same(self, begins: Record) -> None:
        if self.next and (begins.offset != self.start or _mark(begins) != self._last):
            self.clear()
            msg = f"{self.path} was not copied from this topic"
            raise OtherTopic(msg)
        self._is_checked = True

    def clear(self) -> None:
        """Forget all: the partition is read from its beginning."""
        with self._together():
            self._db.execute("DELETE FROM answers")
            self._db.execute("DELETE FROM cursor")
        self.next, self._last = 0, b""

    @contextmanager
    def _together(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite has ended it itself where the disk is full
                self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file, which the next start of the worker goes on with."""
        self._db.close()


def _mark(record: Record) -> bytes:
    return sha256((record.key or b"") + b"\n" + (record.value or b"")).digest()
