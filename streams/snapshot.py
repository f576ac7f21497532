"""Memory by position: the rows of its events in their order, from a home's own table or from a copy of the topic.

A snapshot is a file that the topic ``memory`` is folded into: the last row of a key stands, a tombstone deletes.
Compaction keeps the last copy of a row, wherever that lies, so a partition says nothing until it is read to its end.
``Snapshot.take`` is given its records batch by batch, each folded in with the offset that it was read up to; whoever
looks at the rows first reads every partition to an end that was fixed before, for in between they are half of an event.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from schemas.committed import Committed
from schemas.header import EventKind, Header
from schemas.memory import ChangedRow, ClosedRow, LeftRow, OutcomeRow, RecordRow, Row
from schemas.space import Space
from stages.text.spoken import WITH_VECTOR
from streams.codec import Codec, codec

_ROW: Codec[Row] = codec(Row)

_PAGE: Final = 64
"""Events read at once: some 400 rows."""

_POSITION: Final = (
    "COALESCE(json_extract(body, '$.since'), json_extract(body, '$.until'), json_extract(body, '$.position'))"
)
"""The position of the event that a row came with, whatever kind of row it is."""

_INDEX: Final = f"CREATE INDEX IF NOT EXISTS main.memory_position ON memory (space, {_POSITION})"
_NO_INDEX: Final = "DROP INDEX IF EXISTS main.memory_position"

_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS memory (
    space TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (space, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reached (space TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS read (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
{_INDEX};
"""


class MemoryRows(Protocol):
    """Memory as what follows it sees it."""

    def reached(self) -> Mapping[Space, int]:
        """Return the position up to which the rows of each space are all there."""
        ...

    def events(self, space: Space, above: int, up_to: int) -> Iterator[Committed]:
        """Give the rows of a space with ``above < position <= up_to``, an event at a time, in order."""
        ...


@dataclass(frozen=True, slots=True)
class PositionedRows:
    """Rows of a table ``memory (space, key, body)`` by position. ``prepare`` makes the index that this takes."""

    database: sqlite3.Connection

    def prepare(self) -> None:
        """Make the index; it costs about a second for 100,000 rows, once."""
        self.database.execute(_INDEX)

    def forget(self) -> None:
        """Drop the index."""
        self.database.execute(_NO_INDEX)

    def events(self, space: Space, above: int, up_to: int) -> Iterator[Committed]:
        """Give the rows of a space with ``above < position <= up_to``, an event at a time, in order.

        A closing or mark of a record that is gone (a tombstone took it) is left out. Vectors are not in memory, and of
        the header only space, position and id are.
        """
        for start in range(above, up_to, _PAGE):
            yield from self._page(space, start, min(start + _PAGE, up_to))

    def _page(self, space: Space, above: int, up_to: int) -> list[Committed]:
        bodies = self.database.execute(
            f"SELECT {_POSITION}, body FROM memory WHERE space = ? AND {_POSITION} > ? AND {_POSITION} <= ? "  # noqa: S608 - fixed words
            f"ORDER BY {_POSITION}, key",
            (space, above, up_to),
        ).fetchall()
        found: dict[int, list[Row]] = {}
        for position, body in bodies:
            row: Row = _ROW.decode(body.encode())
            if self._stands(row):
                found.setdefault(position, []).append(row)
        return [_event(space, position, rows) for position, rows in found.items()]

    def _stands(self, row: Row) -> bool:
        """Tell whether what a row speaks of is there."""
        if not isinstance(row, ClosedRow | LeftRow | ChangedRow):
            return True
        key = f"record {row.id}"
        found = self.database.execute("SELECT 1 FROM memory WHERE space = ? AND key = ?", (row.space, key))
        return found.fetchone() is not None

    def records(self, space: Space, kinds: Collection[str], up_to: int) -> int:
        """Return how many records of these kinds a space has up to a position."""
        return self._count(space, kinds, up_to, "FALSE")

    def vectors(self, space: Space, up_to: int) -> int:
        """Return how many records of a space up to a position have a vector, as ``has_vector`` says."""
        return self._count(space, WITH_VECTOR, up_to, "json_extract(body, '$.run') IS NOT NULL")

    def _count(self, space: Space, kinds: Collection[str], up_to: int, others: str) -> int:
        marks = ", ".join("?" * len(kinds))
        (count,) = self.database.execute(
            "SELECT COUNT(*) FROM memory WHERE space = ? AND key GLOB 'record *' "  # noqa: S608 - fixed words
            f"AND {_POSITION} <= ? AND (json_extract(body, '$.kind') IN ({marks}) OR {others})",
            (space, up_to, *kinds),
        ).fetchone()
        return int(count)


def _event(space: Space, position: int, rows: Sequence[Row]) -> Committed:
    ended = next((row.event_id for row in rows if isinstance(row, OutcomeRow)), "")
    header = Header(space=space, position=position, kind=EventKind.TURN, event_id=ended, offset=0)
    ordered = sorted(rows, key=lambda row: (not isinstance(row, RecordRow), isinstance(row, OutcomeRow)))
    return Committed(header=header, rows=tuple(ordered))


@dataclass(frozen=True, slots=True)
class Fetched:
    """A record of the topic ``memory``: its key (space, blank, row key) and its row, ``None`` for a tombstone."""

    key: bytes
    value: bytes | None


class Snapshot:
    """A copy of the topic ``memory`` in a file, as far as its partitions were read."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # what is lost with the machine is read again
        self._db.executescript(_SCHEMA)
        self.rows = PositionedRows(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def next(self, partition: int) -> int:
        """Return the offset before which a partition was read."""
        row = self._db.execute("SELECT next FROM read WHERE partition = ?", (partition,)).fetchone()
        return 0 if row is None else int(row[0])

    def take(self, partition: int, records: Iterable[Fetched], until: int) -> None:
        """Fold the records of a partition up to the offset ``until``, all of them or none.

        Rows of the system's own, such as heartbeats, are passed over.
        """
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for record in records:
                space, _, key = record.key.decode().partition(" ")
                if key:
                    self._fold(space, key, record.value)
            self._db.execute("INSERT OR REPLACE INTO read VALUES (?, ?)", (partition, until))
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _fold(self, space: str, key: str, value: bytes | None) -> None:
        if value is None:
            self._db.execute("DELETE FROM memory WHERE space = ? AND key = ?", (space, key))
            return
        self._db.execute("INSERT OR REPLACE INTO memory VALUES (?, ?, ?)", (space, key, value.decode()))
        kind, _, position = key.partition(" ")
        if kind == "outcome":
            self._db.execute(
                "INSERT INTO reached VALUES (?, ?) ON CONFLICT (space) DO UPDATE "
                "SET position = MAX(position, excluded.position)",
                (space, int(position)),
            )

    def reached(self) -> dict[Space, int]:
        """Return the position of the newest outcome of each space: the rows of an event stand before it in the log."""
        return {Space(space): position for space, position in self._db.execute("SELECT space, position FROM reached")}

    def of(self, space: Space) -> list[Row]:
        """Return the rows of a space, ordered by row kind and key; no edges."""
        found = self._db.execute(
            "SELECT body FROM memory WHERE space = ? AND key NOT GLOB 'edge *' ORDER BY key", (space,)
        )
        return [_ROW.decode(body.encode()) for (body,) in found]

    def events(self, space: Space, above: int, up_to: int) -> Iterator[Committed]:
        """Give the rows of a space with ``above < position <= up_to``, an event at a time, in order."""
        return self.rows.events(space, above, up_to)
