"""SQLite as the log: turns, stage records, memory, state, offsets, letters and crashes of one home."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.header import Header
from schemas.letter import Letter
from schemas.memory import Row, row_key
from schemas.space import Space
from streams.codec import Codec, canonical, codec
from streams.effects import Cut, Inbound
from streams.state import StateHeader, StateRow
from streams.stopped import WrongHome

VERSION = 1
"""Of the tables below; a home of another version is refused, since it would be read wrongly."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, own INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS log_space ON log (space, seq);
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
CREATE TABLE IF NOT EXISTS crashes (
    stage TEXT NOT NULL, space TEXT NOT NULL, seq INTEGER NOT NULL, times INTEGER NOT NULL, report TEXT NOT NULL,
    PRIMARY KEY (stage, space, seq)) WITHOUT ROWID;
"""

_LETTER: Codec[Letter] = codec(Letter)
_ROW: Codec[Row] = codec(Row)


_READ = 1024 * 1024
"""Bytes read at once: 64 lanes hold 64 MB of waiting events at most, whatever the turns are."""


def _within(records: Iterable[Inbound]) -> Iterator[Inbound]:
    """Give records until ``_READ`` bytes are reached, one at least."""
    size = 0
    for record in records:
        yield record
        size += len(record.body)
        if size >= _READ:
            return


class Journal:
    """One SQLite file in WAL mode, used from one thread.

    What clients were told is durable (``append``) is synced to the disk; the rest can be made again from it, so it
    need not be: a crash of the process loses nothing, a crash of the machine only work that is repeated.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.executescript(_SCHEMA)
        self.pin(
            "version", str(VERSION), "start the version of anabranch that wrote it, or name another ANABRANCH_HOME"
        )

    def close(self) -> None:
        """Close the file; what was acknowledged is durable."""
        self._db.close()

    def pin(self, name: str, value: str, way_out: str) -> None:
        """Note a property of the home at its first use, and refuse another one later.

        Raises:
            WrongHome: if the home has another value.
        """
        self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
        (known,) = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if known != value:
            msg = f"this home has {name} {known!r}, but {value!r} is asked for; {way_out}"
            raise WrongHome(msg)

    @contextmanager
    def _transaction(self, *, synced: bool = False) -> Iterator[None]:
        self._db.execute(f"PRAGMA synchronous={'FULL' if synced else 'NORMAL'}")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # the log

    def append(self, space: Space, bodies: Iterable[bytes], *, own: bool = False) -> None:
        """Append events to the log, all or none; they are on the disk when this returns."""
        with self._transaction(synced=True):
            self._db.executemany(
                "INSERT INTO log (space, own, body) VALUES (?, ?, ?)", [(space, own, body) for body in bodies]
            )

    def read_log(self, space: str, after: int, limit: int) -> list[Inbound]:
        """Return events of a space whose offsets are above ``after``."""
        rows = self._db.execute(
            "SELECT seq, body, own FROM log WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?", (space, after, limit)
        )
        return list(_within(Inbound(offset=seq, body=body, own=bool(own)) for seq, body, own in rows))

    def whole_log(self, space: str) -> Iterator[Inbound]:
        """Give every event of a space, in order."""
        rows = self._db.execute("SELECT seq, body, own FROM log WHERE space = ? ORDER BY seq", (space,))
        return (Inbound(offset=seq, body=body, own=bool(own)) for seq, body, own in rows)

    def read_records(self, topic: str, space: str, after: int, limit: int) -> list[Inbound]:
        """Return a stage's records of a space whose offsets are above ``after``."""
        rows = self._db.execute(
            "SELECT seq, body, header, marker FROM records WHERE topic = ? AND space = ? AND seq > ? "
            "ORDER BY seq LIMIT ?",
            (topic, space, after, limit),
        )
        return list(
            _within(
                Inbound(seq, body, Header.model_validate_json(header), bool(marker))
                for seq, body, header, marker in rows
            )
        )

    def spaces(self) -> list[Space]:
        """Return every space that the log knows, in order."""
        return [Space(space) for (space,) in self._db.execute("SELECT DISTINCT space FROM log ORDER BY space")]

    def logged(self, space: str | None = None) -> int:
        """Return how many events the log holds, of one space or of all."""
        where, given = ("WHERE space = ?", (space,)) if space else ("", ())
        (count,) = self._db.execute(f"SELECT COUNT(*) FROM log {where}", given).fetchone()  # noqa: S608 - fixed words
        return int(count)

    def pending(self, topic: str, stage: str) -> list[Space]:
        """Return the spaces that have input beyond what ``stage`` finished."""
        table, only, given = ("log", "", ()) if topic == "turns" else ("records", "WHERE topic = ?", (topic,))
        rows = self._db.execute(
            f"SELECT newest.space FROM (SELECT space, MAX(seq) AS seq FROM {table} {only} GROUP BY space) AS newest "  # noqa: S608 - fixed words
            "LEFT JOIN lanes ON lanes.stage = ? AND lanes.space = newest.space "
            "WHERE newest.seq > COALESCE(lanes.next, 0)",
            (*given, stage),
        )
        return [Space(space) for (space,) in rows]

    def lag(self, topic: str, stage: str, space: str) -> int:
        """Return how many records of a space a stage has before it now."""
        finished = self._finished(stage, space)
        table, only, given = ("log", "", ()) if topic == "turns" else ("records", "topic = ? AND", (topic,))
        (count,) = self._db.execute(
            f"SELECT COUNT(*) FROM {table} WHERE {only} space = ? AND seq > ?",  # noqa: S608 - fixed words
            (*given, space, finished),
        ).fetchone()
        return int(count)

    def total_lag(self, topic: str, stage: str) -> int:
        """Return how many records of all spaces a stage has before it now."""
        return sum(self.lag(topic, stage, space) for space in self.pending(topic, stage))

    def committed_offset(self, space: str) -> int:
        """Return the offset in the log up to which every event of a space has its outcome."""
        entered, watermark = self.header("normalize", space), self.position("commit", space)
        if watermark == entered.position:
            return entered.offset
        row = self._db.execute(
            "SELECT header FROM records WHERE topic = 'turns.normalized' AND space = ? AND position = ?",
            (space, watermark),
        ).fetchone()
        return 0 if row is None else Header.model_validate_json(row[0]).offset

    def naming(self, space: str, text: str) -> list[Inbound]:
        """Return the events of a space whose bytes hold ``text`` as JSON writes it, in order; all if none does."""
        spelled = json.dumps(text, ensure_ascii=False).encode()
        rows = self._db.execute(
            "SELECT seq, body, own FROM log WHERE space = ? AND instr(body, ?) > 0 ORDER BY seq", (space, spelled)
        ).fetchall()
        found = [Inbound(offset=seq, body=body, own=bool(own)) for seq, body, own in rows]
        return found or list(self.whole_log(space))

    def _finished(self, stage: str, space: str) -> int:
        row = self._db.execute("SELECT next FROM lanes WHERE stage = ? AND space = ?", (stage, space)).fetchone()
        return 0 if row is None else int(row[0])

    # effects

    def write_records(self, topic: str, cut: Cut) -> None:
        """Append a cut's outputs; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO records (topic, space, position, marker, header, body) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (topic, cut.space, out.header.position, out.marker, out.header.model_dump_json().encode(), out.body)
                for out in cut.outputs
            ],
        )

    def write_memory(self, cut: Cut) -> None:
        """Add a cut's memory rows; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO memory VALUES (?, ?, ?)",
            [(cut.space, row_key(row), canonical(row)) for event in cut.committed for row in event.rows],
        )

    def write_letters(self, cut: Cut) -> None:
        """Add a cut's letters; those already there stay as they are."""
        self._db.executemany(
            "INSERT OR IGNORE INTO letters VALUES (?, ?, ?)",
            [(letter.letter_id, letter.space, _LETTER.encode(letter)) for letter in cut.letters],
        )

    def write_state(self, cut: Cut) -> None:
        """Write a cut's changed parts, then the state header."""
        self._db.executemany(
            "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?)",
            [(cut.stage, cut.space, row.part, row.slot, row.version, row.data) for row in cut.state],
        )

    def write_offset(self, cut: Cut) -> None:
        """Note that the lane's input is finished up to the cut's offset."""
        self._db.execute(
            "INSERT OR REPLACE INTO lanes VALUES (?, ?, ?, ?)",
            (cut.stage, cut.space, cut.header.offset, cut.header.position),
        )

    def prune(self, topics: Sequence[str], space: str, below: int) -> None:
        """Remove stage records that every stage has finished; the log and memory keep what they say."""
        self._db.executemany(
            "DELETE FROM records WHERE topic = ? AND space = ? AND position < ?",
            [(topic, space, below) for topic in topics],
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is written inside durable together."""
        with self._transaction():
            yield

    # what is there

    def state(self, stage: str, space: str) -> list[StateRow]:
        """Return every stored copy of a lane's state."""
        rows = self._db.execute(
            "SELECT part, slot, version, body FROM state WHERE stage = ? AND space = ?", (stage, space)
        )
        return [StateRow(*row) for row in rows]

    def header(self, stage: str, space: str) -> StateHeader:
        """Return where a stage stands in a space."""
        row = self._db.execute(
            "SELECT body FROM state WHERE stage = ? AND space = ? AND part = '' ORDER BY version DESC LIMIT 1",
            (stage, space),
        ).fetchone()
        return StateHeader() if row is None else StateHeader.model_validate_json(row[0])

    def position(self, stage: str, space: str) -> int:
        """Return the last position that a stage finished in a space (-1: none)."""
        row = self._db.execute("SELECT position FROM lanes WHERE stage = ? AND space = ?", (stage, space)).fetchone()
        return -1 if row is None else int(row[0])

    def memory(self, space: Space) -> Iterator[str]:
        """Return the canonical rows of a space, ordered by key."""
        rows = self._db.execute("SELECT body FROM memory WHERE space = ? ORDER BY key", (space,))
        return (body for (body,) in rows)

    def rows(self, space: Space, prefix: str = "") -> Iterator[Row]:
        """Return the rows of a space whose keys begin with ``prefix``, ordered by key."""
        found = self._db.execute(
            "SELECT body FROM memory WHERE space = ? AND key >= ? AND key < ? ORDER BY key",
            (space, prefix, prefix + "\U0010ffff"),
        )
        return (_ROW.decode(body.encode()) for (body,) in found)

    def letters(self, space: str | None = None) -> Iterator[Letter]:
        """Return the letters of a space or of all, oldest first."""
        where, given = ("WHERE space = ?", (space,)) if space else ("", ())
        rows = self._db.execute(f"SELECT body FROM letters {where}", given)  # noqa: S608 - fixed words
        return iter(
            sorted((_LETTER.decode(body) for (body,) in rows), key=lambda letter: (letter.space, letter.offset))
        )

    # crashes

    def count(self, stage: str, space: Space, offset: int) -> int:
        """Return how often a stage crashed at a record."""
        row = self._db.execute(
            "SELECT times FROM crashes WHERE stage = ? AND space = ? AND seq = ?", (stage, space, offset)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def add(self, stage: str, space: Space, offset: int, report: str) -> int:
        """Note a crash durably and return how many that makes."""
        times = self.count(stage, space, offset) + 1
        with self._transaction(synced=True):
            self._db.execute(
                "INSERT OR REPLACE INTO crashes VALUES (?, ?, ?, ?, ?)", (stage, space, offset, times, report)
            )
        return times

    def query(self, statement: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a reading statement (for reports)."""
        return self._db.execute(statement, given).fetchall()
